#!/usr/bin/env node
// Stands in for the desktop `code` executable: takes its command line, runs the same extension tests
// in VS Code's server + Chromium. Give its path to @vscode/test-electron (vscodeExecutablePath) or
// @vscode/test-cli (useInstallation.fromPath).
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { codeCli, runExtensionTests, VSCODE_ROOT } from './vshost.mjs';

const opts = new Map();
const positional = [];
const WITH_VALUE = new Set([
  'extensionDevelopmentPath',
  'extensionTestsPath',
  'user-data-dir',
  'extensions-dir',
  'profile',
  'install-extension',
  'uninstall-extension',
  'log',
  'locale',
  'folder-uri',
  'file-uri',
  'inspect-extensions',
  'inspect-brk-extensions',
  'disable-extension',
  'enable-proposed-api',
  'logsPath',
  'crash-reporter-directory',
]);
const argv = process.argv.slice(2);
for (let i = 0; i < argv.length; i++) {
  const m = /^--([^=]+)(?:=([\s\S]*))?$/.exec(argv[i]);
  if (!m) {
    if (!argv[i].startsWith('-')) {
      positional.push(argv[i]);
    }
    continue;
  }
  const [, name, inline] = m;
  const value =
    inline ?? (WITH_VALUE.has(name) && argv[i + 1] !== undefined && !argv[i + 1].startsWith('--') ? argv[++i] : 'true');
  opts.set(name, [...(opts.get(name) ?? []), value]);
}
const one = (n) => opts.get(n)?.at(-1);
const dirs = { userDataDir: one('user-data-dir'), extensionsDir: one('extensions-dir') }; // absent: thrown away afterwards
const local = (s) =>
  s === undefined
    ? undefined
    : /^(file|vscode-remote):/.test(s)
      ? decodeURIComponent(new URL(s).pathname)
      : path.resolve(s);

if (opts.has('version') || argv.includes('-v')) {
  const p = JSON.parse(readFileSync(path.join(VSCODE_ROOT, 'package.json'), 'utf8'));
  const q = JSON.parse(readFileSync(path.join(VSCODE_ROOT, 'product.json'), 'utf8'));
  console.log(`${p.version}\n${q.commit}\n${process.arch}`);
} else if (['install-extension', 'uninstall-extension', 'list-extensions'].some((n) => opts.has(n))) {
  const cli = [];
  for (const n of ['install-extension', 'uninstall-extension']) {
    for (const v of opts.get(n) ?? []) {
      cli.push(`--${n}`, v);
    }
  }
  for (const n of ['list-extensions', 'show-versions', 'force']) {
    if (opts.has(n)) {
      cli.push(`--${n}`);
    }
  }
  process.stdout.write(
    await codeCli(cli, { ...dirs, userDataDir: dirs.userDataDir ?? path.join(homedir(), '.vscode-test-host') }),
  );
} else if (!opts.has('extensionTestsPath')) {
  console.error('code-shim: only extension tests (--extensionTestsPath) and the extension commands are supported');
  process.exit(2);
} else {
  // One program with a window on each platform, one folder: the last positional that exists, or --folder-uri.
  const folder = local(
    one('folder-uri') ??
      positional
        .filter((p) => {
          try {
            statSync(p);
            return true;
          } catch {
            return false;
          }
        })
        .at(-1),
  );
  const payload = [];
  if (opts.has('disable-extensions')) {
    payload.push(['disableExtensions', 'true']);
  }
  for (const n of ['inspect-extensions', 'inspect-brk-extensions']) {
    if (one(n)) {
      payload.push([n, one(n)]);
    }
  }
  const code = await runExtensionTests({
    extensionDevelopmentPath: (opts.get('extensionDevelopmentPath') ?? []).map(local),
    extensionTestsPath: local(one('extensionTestsPath')),
    folder,
    ...dirs,
    payload,
    verbose: !!process.env.VSHOST_VERBOSE || opts.has('verbose'),
    logsDir: process.env.VSHOST_LOGS,
    timeoutMs: Number(process.env.VSHOST_TIMEOUT_MS ?? 600_000),
  });
  process.exit(code);
}
