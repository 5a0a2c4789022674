import { execFile } from 'node:child_process';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { delay } from '../../base/async.ts';
import { BowlineError, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { agentBaseEnvironment, type Environment } from '../environment.ts';
import { ensurePrivateDirectory, exists, readJsonFile, writeFileAtomic } from '../files.ts';
import { findProgram, isProgram } from '../findProgram.ts';
import { isSameProcess, processIdentity } from '../processIdentity.ts';
import { statePaths } from '../statePaths.ts';
import { userScope } from '../userScope.ts';
import { claimSocketDirectory } from './socketDirectories.ts';
import { configurationFile, defaultTerminal, keeperCommand, keeperSession } from './tmuxConfiguration.ts';

/** What is known about the server behind the socket. Only `none` proves that no agent lives in it. */
export type ServerPresence =
  { readonly kind: 'running' } | { readonly kind: 'none' } | { readonly kind: 'unknown'; readonly error: BowlineError };

export interface TmuxServerOptions {
  readonly stateDirectory: string;
  /** The person's setting; wins over every search. */
  readonly tmuxPath?: string | undefined;
  readonly environment: Environment;
  readonly log: Log;
  /** Limit of one tmux process, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** tmux as a program. */
export interface TmuxProgram {
  readonly file: string;
  /** As printed, e.g. `3.3a`. */
  readonly version: string;
}

interface RunResult {
  readonly outcome: 'ok' | 'failed' | 'timed out';
  readonly stdout: string;
  readonly stderr: string;
}

const usualPlaces = [
  '/usr/bin',
  '/usr/local/bin',
  '/opt/homebrew/bin',
  '/opt/local/bin',
  '/home/linuxbrew/.linuxbrew/bin',
  '/snap/bin',
];
const lookInTerminal = 'Run it in a terminal to see why, or set "bowline.tmuxPath" to another tmux.';
const recordSchema = z.object({ pid: z.int().check(z.positive()), startTime: z.string() });

/** Bowline's own tmux server: where its program and socket are, whether it lives, and how to start it. */
export class TmuxServer {
  readonly socketPath: string;
  readonly configPath: string;
  /** The environment of every tmux process that Bowline starts, and so of the server. */
  readonly environment: Record<string, string>;
  readonly defaultTerminal: string;
  private readonly socketDirectory: string;
  private readonly recordPath: string;
  private readonly timeoutMs: number;
  private program: TmuxProgram | undefined;

  constructor(private readonly options: TmuxServerOptions) {
    const paths = statePaths(options.stateDirectory);
    this.socketPath = paths.fleetSocket;
    this.socketDirectory = paths.fleetSocketDirectory;
    this.configPath = paths.tmuxConfig;
    this.recordPath = join(paths.directory, 'tmux-server.json');
    this.environment = agentBaseEnvironment(options.environment);
    this.defaultTerminal = defaultTerminal(options.environment);
    this.timeoutMs = options.timeoutMs ?? 5000;
  }

  /** Finds tmux and checks its version. Throws `tmux-missing` or `tmux-too-old`. A success is kept. */
  async locate(): Promise<TmuxProgram> {
    this.program ??= await this.find();
    return this.program;
  }

  /**
   * Makes sure that the keeper session is there, without starting a server. If the socket's file is gone while the
   * recorded server lives, the server is asked to make it again (SIGUSR1).
   */
  async presence(): Promise<ServerPresence> {
    if (!(await exists(this.socketPath))) {
      const revived = await this.reviveSocket();
      if (revived.kind !== 'running') return revived;
    }
    return this.ensureKeeper('only a running server');
  }

  /** Starts the server unless it runs. Throws `tmux-failed` or `tmux-no-answer`. */
  async start(): Promise<void> {
    const presence = await this.presence();
    if (presence.kind === 'running') return;
    if (presence.kind === 'unknown') throw presence.error;
    await ensurePrivateDirectory(this.options.stateDirectory);
    await claimSocketDirectory(this.options.stateDirectory);
    await writeFileAtomic(this.configPath, configurationFile({ defaultTerminal: this.defaultTerminal }));
    const scope = await userScope(this.environment);
    let last: ServerPresence = { kind: 'none' };
    // A start right after the end of the previous server can fail with "server exited unexpectedly".
    for (let attempt = 0; attempt < 4; attempt += 1) {
      if (attempt > 0) await delay(100 * attempt);
      last = await this.ensureKeeper('start', attempt === 0 ? scope : []);
      if (last.kind === 'running') return;
      if (last.kind === 'unknown' && last.error.code === 'tmux-no-answer') break;
    }
    throw last.kind === 'unknown'
      ? last.error
      : new BowlineError('tmux-failed', 'tmux does not start. Try again; Show Log tells more.');
  }

  /** Notes the server's process for {@link presence}. */
  async record(pid: number): Promise<void> {
    const identity = await processIdentity(pid);
    if (identity === undefined) return;
    const known = await readJsonFile(this.recordPath, recordSchema);
    if (known.kind === 'ok' && known.value.pid === pid && known.value.startTime === identity.startTime) return;
    await writeFileAtomic(this.recordPath, JSON.stringify(identity));
  }

  /** `scope`: words before the command, see {@link userScope}. */
  private async ensureKeeper(
    mode: 'start' | 'only a running server',
    scope: readonly string[] = [],
  ): Promise<ServerPresence> {
    const start = mode === 'start' ? ['-f', this.configPath] : ['-N'];
    const session = ['new-session', '-d', '-s', keeperSession, '-c', '/', '--', ...keeperCommand];
    const { file } = await this.locate();
    const command = [...scope, file, ...start, '-S', this.socketPath, ...session];
    const { environment, timeoutMs } = this;
    const result = await runProgram(command, { environment, timeoutMs });
    if (result.outcome === 'ok' || /^duplicate session/m.test(result.stderr)) return { kind: 'running' };
    if (result.outcome === 'timed out') {
      return { kind: 'unknown', error: noAnswer(this.timeoutMs) };
    }
    if (mode === 'only a running server' && /^no server running on/m.test(result.stderr)) return { kind: 'none' };
    return { kind: 'unknown', error: failed(result.stderr.trim()) };
  }

  private async reviveSocket(): Promise<ServerPresence> {
    const record = await readJsonFile(this.recordPath, recordSchema);
    if (record.kind === 'missing') return { kind: 'none' };
    if (record.kind === 'damaged') {
      this.options.log.warn('the record of the tmux server is damaged', { reason: record.reason });
      return { kind: 'none' };
    }
    const life = await isSameProcess(record.value);
    if (life === 'gone') return { kind: 'none' };
    const lost = `The socket of the running tmux server (process ${record.value.pid}) is gone`;
    if (life === 'unknown') {
      return { kind: 'unknown', error: failed(`${lost}, and whether that process still runs cannot be found out`) };
    }
    this.options.log.warn('the tmux socket was deleted; asking the server to make it again', { pid: record.value.pid });
    try {
      await ensurePrivateDirectory(this.socketDirectory);
      process.kill(record.value.pid, 'SIGUSR1');
    } catch (error) {
      return { kind: 'unknown', error: failed(`${lost} and cannot be made again (${messageOf(error)})`) };
    }
    for (let waited = 0; waited < this.timeoutMs; waited += 25) {
      if (await exists(this.socketPath)) return { kind: 'running' };
      await delay(25);
    }
    return { kind: 'unknown', error: noAnswer(this.timeoutMs) };
  }

  private async find(): Promise<TmuxProgram> {
    const { tmuxPath, environment } = this.options;
    const chosen = tmuxPath === undefined || tmuxPath === '' ? undefined : tmuxPath;
    const file =
      chosen === undefined
        ? await findProgram('tmux', { environment, usualPlaces, timeoutMs: this.timeoutMs })
        : (await isProgram(chosen))
          ? chosen
          : undefined;
    if (file === undefined) {
      const where = chosen === undefined ? 'on this machine' : `at ${chosen}`;
      throw new BowlineError(
        'tmux-missing',
        `tmux was not found ${where}. Install tmux 3.2 or later, or set "bowline.tmuxPath" to its full path, then resume the agent.`,
      );
    }
    const { outcome, stdout, stderr } = await runProgram([file, '-V'], {
      environment: this.environment,
      timeoutMs: this.timeoutMs,
    });
    if (outcome === 'timed out') {
      const silent = `${file} -V has not answered for ${this.timeoutMs / 1000} s. Bowline keeps trying.`;
      throw new BowlineError('tmux-no-answer', `${silent} ${lookInTerminal}`);
    }
    if (outcome === 'failed') {
      throw new BowlineError('tmux-failed', `${file} cannot be run (${stderr.trim()}). ${lookInTerminal}`);
    }
    const version = stdout.trim().replace(/^tmux /, '');
    if (!isSupportedVersion(version)) {
      throw new BowlineError(
        'tmux-too-old',
        `${file} is tmux ${version}; Bowline needs 3.2 or later. Update tmux, or set "bowline.tmuxPath" to a newer one, then resume the agent.`,
      );
    }
    return { file, version };
  }
}

/** Whether `version` (as `tmux -V` prints it: `3.3a`, `next-3.6`, `master`) is 3.2 or later. */
export function isSupportedVersion(version: string): boolean {
  const numbers = /(\d+)\.(\d+)/.exec(version);
  if (numbers === null) return version === 'master';
  // OpenBSD's own builds carry the version of the system; 6.9 came with tmux 3.2.
  const [least, rest] = version.startsWith('openbsd-') ? [6, 9] : [3, 2];
  const [major, minor] = [Number(numbers[1]), Number(numbers[2])];
  return major > least || (major === least && minor >= rest);
}

/** tmux did not answer in time: nothing is known about what it did or holds. */
export function noAnswer(limitMs: number): BowlineError {
  return new BowlineError(
    'tmux-no-answer',
    `tmux has not answered for ${limitMs / 1000} s. The agents may well be alive, so nothing is restarted; Bowline keeps trying. ` +
      'If it stays so, end that tmux process yourself, then resume the agents.',
  );
}

/** tmux refused; `detail` is its own message, and the cause of the error. */
export function failed(detail: string): BowlineError {
  const reason = detail === '' ? 'no reason given' : detail;
  return new BowlineError('tmux-failed', `tmux refused: ${reason}. Try again; Show Log tells more.`, { cause: reason });
}

function runProgram(
  [file = '', ...words]: readonly string[],
  options: { readonly environment: Record<string, string>; readonly timeoutMs: number },
): Promise<RunResult> {
  return new Promise((resolve) => {
    const settings = {
      env: options.environment,
      cwd: '/',
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
      encoding: 'utf8',
    } as const;
    execFile(file, words, settings, (error, stdout, stderr) => {
      const outcome = error === null ? 'ok' : error.killed === true ? 'timed out' : 'failed';
      resolve({ outcome, stdout, stderr: stderr === '' && error !== null ? error.message : stderr });
    });
  });
}
