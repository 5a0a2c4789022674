// The import matrix of ARCHITECTURE.md is a lint rule here: a folder is a process and a permission.
import tseslint from 'typescript-eslint';

const zones = {
  base: [],
  core: ['base'],
  protocol: ['base', 'core', 'zod'],
  node: ['base', 'core', 'protocol', 'zod', 'node:*', 'ws', 'node-pty'],
  holder: ['node:*'],
  gateway: ['base', 'core', 'protocol', 'node', 'zod', 'node:*', 'ws'],
  hook: ['base', 'core', 'protocol', 'node', 'zod', 'node:*'],
  extension: ['base', 'core', 'protocol', 'node', 'zod', 'node:*', 'ws', 'vscode'],
  webview: ['base', 'core', 'protocol', 'lit'],
};
const folders = Object.keys(zones);
const packages = ['zod', 'ws', 'node-pty', 'vscode', 'lit', '@vscode-elements/elements'];

/** One rule per folder: what it may not import. */
function importRule(folder) {
  const allowed = zones[folder];
  const patterns = [
    ...folders
      .filter((other) => other !== folder && !allowed.includes(other))
      .map((other) => ({ regex: `^(\\.\\./)+${other}/`, message: `${folder} may not import ${other}` })),
    ...packages
      .filter((name) => !allowed.includes(name))
      .map((name) => ({ regex: `^${name}(/|$)`, message: `${folder} may not import ${name}` })),
    ...(allowed.includes('node:*') ? [] : [{ regex: '^node:', message: `${folder} touches no Node API` }]),
    { regex: '^zod$', message: 'zod/mini: the whole of zod costs every hook and window 30 ms at its start' },
    { regex: '^(\\.\\./)+test/', message: 'src never imports tests' },
  ];
  return {
    files: [`src/${folder}/**/*.ts`],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] },
  };
}

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'test/host/node_modules/**', 'test/fixtures/**'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { requireDefaultForNonUnion: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        {
          selector: "TSAsExpression > CallExpression[callee.object.name='JSON'][callee.property.name='parse']",
          message: 'What comes from outside is parsed by a schema.',
        },
      ],
    },
  },
  ...folders.map(importRule),
  {
    files: ['src/core/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', 'process', 'setTimeout', 'setInterval', 'fetch', 'Buffer'],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'The core does not ask the time: events carry it.' },
        { object: 'Math', property: 'random', message: 'The core has no randomness: ids come in with events.' },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: "CallExpression[callee.property.name='only']", message: 'No focused tests.' },
        { selector: "CallExpression[callee.property.name='skip']", message: 'No skipped tests.' },
      ],
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: ['describe', 'it', 'suite', 'test'], package: 'mocha' }] },
      ],
    },
  },
);
