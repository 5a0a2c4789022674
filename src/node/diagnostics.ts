import { execFile } from 'node:child_process';
import { lstat, readdir, stat } from 'node:fs/promises';
import { homedir, release, type as systemName } from 'node:os';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../base/errors.ts';
import { silentLog } from '../base/log.ts';
import { redactor } from '../core/diagnostics/redact.ts';
import { type DiagnosticsInput, diagnosticsReport } from '../core/diagnostics/report.ts';
import type { Connection } from '../core/fleet/select.ts';
import type { FleetState } from '../core/fleet/state.ts';
import { paneFormat } from '../core/tmux/formats.ts';
import { holderFileSchema } from '../protocol/endpointFile.ts';
import { knownSecrets } from './diagnosticSecrets.ts';
import { readEndpointFile } from './endpointFile.ts';
import { agentEnvironment, type Environment } from './environment.ts';
import { readJsonFile, readPart } from './files.ts';
import { findClaude } from './hands/findClaude.ts';
import { isSameProcess, type ProcessIdentity } from './processIdentity.ts';
import { currentVersion } from './programVersions.ts';
import { readState } from './stateFiles.ts';
import type { StatePaths } from './statePaths.ts';
import { TmuxServer } from './tmux/tmuxServer.ts';

export interface DiagnosticsOptions {
  readonly paths: StatePaths;
  /** Of this process. */
  readonly environment: Environment;
  readonly now: () => number;
  readonly connection: Connection;
  /** The fleet as this process knows it; one that never saw the gateway takes the state file. */
  readonly state: FleetState;
  /** What the caller alone knows. */
  readonly facts: DiagnosticsInput['facts'];
  /** The caller's own log files. */
  readonly logFiles: readonly string[];
  readonly tmuxPath?: string;
  readonly signal: AbortSignal;
  /** Told what is being done. */
  readonly say: (step: string) => void;
}

/** Of each log; in bytes. */
const tailBytes = 64 * 1024;
const programMs = 5_000;
const filesAtMost = 400;

/** Collects what lets a stranger understand a fault, redacted. Works without a gateway. Rejects when `signal` is aborted. */
export async function collectDiagnostics(options: DiagnosticsOptions): Promise<string> {
  const { paths, now, connection, signal, say } = options;
  const missing: string[] = [];
  const attempt = async <T>(what: string, find: () => Promise<T>): Promise<T | undefined> => {
    signal.throwIfAborted();
    try {
      return await find();
    } catch (error) {
      missing.push(`${what}: ${messageOf(error)}`);
      return undefined;
    }
  };
  say('the state');
  const { state, source } = await stateOf(options, missing);
  say('programs and processes');
  const server = new TmuxServer({
    stateDirectory: paths.directory,
    tmuxPath: options.tmuxPath,
    environment: options.environment,
    log: silentLog,
    timeoutMs: programMs,
  });
  const tmux = await attempt('tmux', () => server.locate());
  const claude = await attempt('claude', () => claudeVersion(state, options.environment));
  const panes = tmux === undefined ? undefined : await attempt('tmux panes', () => panesOf(tmux.file, server));
  const processes = await attempt('processes', () => processLines(paths));
  say('files');
  const files = await attempt('files', () => fileLines(paths.directory, now()));
  say('logs');
  const logs: { title: string; text: string }[] = [];
  for (const file of [...(await logFilesOf(paths)), ...options.logFiles]) {
    const text = await attempt(`log ${file}`, () => tailOf(file));
    if (text !== undefined) logs.push({ title: `End of ${basename(file)}`, text });
  }
  say('taking out what is secret');
  const secrets = await knownSecrets(paths, state, options.environment);
  signal.throwIfAborted();
  const report = diagnosticsReport({
    now: now(),
    connection,
    source,
    state,
    facts: [
      {
        title: 'Versions',
        lines: [
          `System: ${systemName()} ${release()} ${process.arch}`,
          `Node of this process: ${process.version}`,
          `tmux: ${tmux === undefined ? 'not found' : `${tmux.version} at ${tmux.file}`}`,
          `claude: ${claude ?? 'not found'}`,
          `Programs in use: ${(await currentVersion(paths)) ?? 'none'}`,
        ],
      },
      ...options.facts,
      { title: 'Gateway and holder', lines: processes ?? [] },
      { title: 'Panes of tmux', lines: panes ?? [] },
      { title: 'Files of the state directory', lines: files ?? [] },
    ],
    logs,
    missing,
  });
  return redactor(secrets)(report);
}

async function stateOf(
  { paths, state, connection }: DiagnosticsOptions,
  missing: string[],
): Promise<{ readonly state: FleetState; readonly source: string }> {
  if (connection.kind === 'connected') return { state, source: 'as the gateway has it' };
  if (state.epoch !== undefined) return { state, source: 'what this window knew last; the gateway is away' };
  try {
    const recorded = await readState(paths);
    if (recorded.kind === 'ok') return { state: recorded.state, source: 'the state file; the gateway is away' };
    missing.push(`state file: ${recorded.kind === 'missing' ? 'there is none' : `damaged (${recorded.reason})`}`);
  } catch (error) {
    missing.push(`state file: ${messageOf(error)}`);
  }
  return { state, source: 'none; the gateway is away' };
}

async function claudeVersion(state: FleetState, environment: Environment): Promise<string> {
  const env = agentEnvironment(environment, state.settings, undefined);
  const file = await findClaude(state.settings.claudePath, env);
  const { stdout } = await promisify(execFile)(file, ['--version'], { env, cwd: '/', timeout: programMs });
  return `${stdout.trim()} at ${file}`;
}

/** Never starts a server. */
async function panesOf(file: string, server: TmuxServer): Promise<readonly string[]> {
  const arguments_ = ['-N', '-S', server.socketPath, 'list-panes', '-a', '-F', paneFormat];
  const { stdout } = await promisify(execFile)(file, arguments_, { env: server.environment, timeout: programMs });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return [`Format: ${paneFormat}`, ...lines];
}

async function processLines(paths: StatePaths): Promise<readonly string[]> {
  const endpoint = await readEndpointFile(paths);
  const holder = await readJsonFile(paths.holder, holderFileSchema);
  const life = async (identity: ProcessIdentity): Promise<string> =>
    `process ${identity.pid}, ${await isSameProcess(identity)}`;
  return [
    endpoint.kind === 'ok'
      ? `Gateway: ${await life(endpoint.endpoint.gateway)}, port ${endpoint.endpoint.port}, version ${endpoint.endpoint.version}, since ${new Date(endpoint.endpoint.startedAt).toISOString()}`
      : `Gateway: its endpoint file is ${endpoint.kind === 'missing' ? 'missing' : `of no use (${endpoint.reason})`}`,
    holder.kind === 'ok'
      ? `Holder: ${await life(holder.value)}, port ${holder.value.port}, since ${new Date(holder.value.startedAt).toISOString()}`
      : `Holder: its file is ${holder.kind}`,
  ];
}

/** Names, sizes, modes and ages; never what stands in them. */
async function fileLines(directory: string, now: number): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  const lines: string[] = [];
  for (const path of paths.slice(0, filesAtMost)) {
    try {
      const { mode, size, mtimeMs, uid } = await lstat(path);
      const owner = uid === process.getuid?.() ? '' : `, of user ${uid}`;
      const age = Math.round((now - mtimeMs) / 1_000);
      lines.push(`${relative(directory, path)}: ${(mode & 0o7777).toString(8)}, ${size} bytes, ${age} s old${owner}`);
    } catch {
      // It went meanwhile.
    }
  }
  if (paths.length > filesAtMost) lines.push(`and ${paths.length - filesAtMost} more`);
  return [`In ${directory.replace(homedir(), '~')}`, ...lines];
}

async function logFilesOf(paths: StatePaths): Promise<readonly string[]> {
  const names = await readdir(paths.logs).catch(() => []);
  return names.sort().map((name) => join(paths.logs, name));
}

/** Whole lines. */
async function tailOf(path: string): Promise<string> {
  const { size } = await stat(path);
  const start = Math.max(0, size - tailBytes);
  const text = await readPart(path, start, tailBytes);
  return start === 0 ? text : text.slice(text.indexOf('\n') + 1);
}
