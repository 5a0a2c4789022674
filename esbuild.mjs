// Bundles what runs: `node esbuild.mjs [--minify] [--watch]`. Nothing is written unless every bundle keeps to the
// boundaries of ARCHITECTURE.md; a bundle that does not fails the build with the chain of imports that led there.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const builtins = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
const isBuiltin = (name) => builtins.has(name) || name.startsWith('node:');
/** `zod` for `node_modules/zod/index.js`; a file of the project is its own. */
const packageOf = (file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? file;

/**
 * One bundle: `external` says which imports may stay in it, `input` which packages and files may go into it; looked at in
 * the finished bundle, so what was only a type or was dropped as unused does no harm.
 */
const bundles = [
  {
    name: 'extension',
    entry: 'src/extension/extension.ts',
    external: (name) => name === 'vscode' || name === './window.js',
    input: (name) => /^src\/(base|extension)\//.test(name),
  },
  {
    name: 'window',
    entry: 'src/extension/window.ts',
    external: (name) => isBuiltin(name) || ['vscode', 'node-pty', './reports.js'].includes(name),
    input: (name) => name !== 'node-pty',
  },
  { name: 'reports', entry: 'src/extension/reports.ts', external: isBuiltin, input: (name) => name !== 'node-pty' },
  {
    name: 'holder',
    entry: 'src/holder/main.ts',
    external: isBuiltin,
    input: (name) => name.startsWith('src/holder/'),
  },
  // Copied out of the extension and run from there: they find no package.
  { name: 'gateway', entry: 'src/gateway/main.ts', external: isBuiltin, input: (name) => name !== 'node-pty' },
  { name: 'hook', entry: 'src/hook/main.ts', external: isBuiltin, input: (name) => name !== 'node-pty' },
  {
    name: 'webview',
    entry: 'src/webview/main.ts',
    external: () => false,
    input: (name) => name !== 'zod',
  },
];

/** Files that the webview loads by address. */
const assets = ['codicon.css', 'codicon.ttf'];

/** An import of one of these is that of a bundle of its own, which is read when it is needed. */
const ownBundle = {
  name: 'bundles of their own',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/(window|reports)\.ts$/ }, ({ path: name }) => {
      return { path: name.replace(/ts$/, 'js'), external: true };
    }),
};

/** Of ws a client needs no server; its package does not say that its files do nothing by themselves. */
const wsInParts = {
  name: 'ws in parts',
  setup: ({ onResolve, resolve }) =>
    onResolve({ filter: /^\.\/lib\// }, async ({ path: name, pluginData, ...from }) => {
      if (pluginData === wsInParts || !/[\\/]ws[\\/]wrapper\.mjs$/.test(from.importer)) return undefined;
      return { ...(await resolve(name, { ...from, pluginData: wsInParts })), sideEffects: false };
    }),
};

/** esbuild's options for a bundle; an external that a bundle may not have is found by the boundary check. */
function options({ name, entry }, { root, minify }) {
  const node = { platform: 'node', target: 'node20', format: 'cjs' };
  const browser = { platform: 'browser', target: 'es2022', format: 'iife' };
  return {
    absWorkingDir: root,
    entryPoints: { [name]: entry },
    outdir: 'dist',
    bundle: true,
    write: false,
    metafile: true,
    logLevel: 'warning',
    minify: minify || name === 'webview',
    sourcemap: minify ? false : 'linked',
    external: ['vscode', 'node-pty', 'node:*'],
    plugins: [ownBundle, wsInParts],
    // `import()` becomes `require`: VS Code answers only that for `vscode`.
    supported: { 'dynamic-import': false },
    // Optional native parts of ws: without these its bundle asks for packages that are not there.
    define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
    ...(name === 'webview' ? browser : node),
  };
}

/** One sentence for each package or file in a finished bundle that may not be there, with the shortest way to it. */
function boundaryErrors(bundle, { inputs, outputs }) {
  const chains = new Map();
  const add = (sentence, target) => {
    const chain = importChain(inputs, bundle.entry, target);
    if (chain.length < (chains.get(sentence)?.length ?? Infinity)) chains.set(sentence, chain);
  };
  for (const [file, output] of Object.entries(outputs)) {
    for (const { path: name, external } of output.imports) {
      if (external && !bundle.external(name)) add(`${file} imports ${name}`, name);
    }
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
      const name = packageOf(input);
      if (bytesInOutput > 0 && !bundle.input(name)) add(`${file} contains ${name}`, input);
    }
  }
  return [...chains].map(([sentence, chain]) => `${sentence}\n    ${chain.join('\n    -> ')}`);
}

/** Shortest way by imports from the entry to a file or an external name. */
function importChain(inputs, entry, target) {
  const cameFrom = new Map([[entry, undefined]]);
  for (const file of cameFrom.keys()) {
    if (file === target) break;
    for (const { path: next } of inputs[file]?.imports ?? []) if (!cameFrom.has(next)) cameFrom.set(next, file);
  }
  if (!cameFrom.has(target)) return [entry, '(no import found)', target];
  const chain = [];
  for (let file = target; file !== undefined; file = cameFrom.get(file)) chain.unshift(file);
  return chain;
}

/** Writes by rename: a program that is started meanwhile gets the old bundle or the new one, never a half. */
async function writeOutput(file, contents) {
  await mkdir(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, contents);
  await rename(unfinished, file);
}

async function writeAll(root, results) {
  const dist = path.join(root, 'dist');
  const written = new Set(assets);
  for (const { path: file, contents } of results.flatMap((result) => result.outputFiles)) {
    await writeOutput(file, contents);
    written.add(path.relative(dist, file));
  }
  for (const asset of assets) {
    const source = path.join(root, 'node_modules/@vscode/codicons/dist', asset);
    await writeOutput(path.join(dist, asset), await readFile(source));
  }
  for (const file of await readdir(dist)) {
    const unfinished = /\.\d+$/.test(file); // of a build that runs beside this one
    if (!written.has(file) && !unfinished) await rm(path.join(dist, file), { recursive: true, force: true });
  }
}

/** Checks and writes a round of results; resolves with whether all was well. */
async function finish(root, results) {
  const errors = bundles.flatMap((bundle, index) => boundaryErrors(bundle, results[index].metafile));
  for (const error of errors) console.error(`boundary: ${error}`);
  if (errors.length > 0) return false;
  await writeAll(root, results);
  const sizes = results.flatMap((result) => result.outputFiles).filter(({ path: file }) => !file.endsWith('.map'));
  const list = sizes.map(
    ({ path: file, contents }) => `${path.basename(file)} ${Math.ceil(contents.length / 1024)} kB`,
  );
  console.log(`built ${list.join(', ')}`);
  return true;
}

/**
 * Builds every bundle of the project at `root` into its `dist`. Resolves with whether all is well; esbuild and the
 * boundary check print what is not.
 */
export async function build({ root, minify = false }) {
  const contexts = await Promise.all(bundles.map((bundle) => esbuild.context(options(bundle, { root, minify }))));
  try {
    return await finish(root, await Promise.all(contexts.map((context) => context.rebuild())));
  } catch (error) {
    if (!Array.isArray(error.errors)) throw error;
    return false; // esbuild has printed them
  } finally {
    await Promise.all(contexts.map((context) => context.dispose()));
  }
}

/** Builds at every change, until the process is ended. */
async function watch({ root, minify }) {
  const latest = bundles.map(() => undefined);
  for (const [index, bundle] of bundles.entries()) {
    const report = {
      name: 'finish when every bundle is there',
      setup: ({ onEnd }) =>
        onEnd(async (result) => {
          latest[index] = result.errors.length === 0 ? result : undefined;
          if (latest.every((one) => one !== undefined)) await finish(root, latest);
        }),
    };
    const context = await esbuild.context({
      ...options(bundle, { root, minify }),
      plugins: [ownBundle, wsInParts, report],
    });
    await context.watch();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const request = { root: import.meta.dirname, minify: process.argv.includes('--minify') };
  if (process.argv.includes('--watch')) await watch(request);
  else if (!(await build(request))) process.exitCode = 1;
}
