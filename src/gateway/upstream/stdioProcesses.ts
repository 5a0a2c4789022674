import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { ensurePrivateDirectory, readJsonFile, writeFileAtomic } from '../../node/files.ts';
import { isSameProcess, type ProcessIdentity, processIdentity } from '../../node/processIdentity.ts';
import { defaultPatience, endGroup, groupGone, type Patience, signalGroup } from './stdioGroup.ts';

const identitySchema = z.object({ pid: z.int(), startTime: z.string() });
const recordSchema = z.object({ process: identitySchema, gateway: identitySchema });

/** A program with arguments, started by no shell. */
export interface StdioProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** A process of this gateway, the leader of a group of its own. */
export interface StdioProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves when a later gateway would find it. Nothing is to be written to it before. */
  readonly recorded: Promise<void>;
  /** Ends the whole group: end of its input, SIGTERM, SIGKILL. Resolves when it is gone; may be called again. */
  end(): Promise<void>;
}

export interface StdioProcessesOptions {
  /** Where the processes that run are recorded, one file each; made when there is one. */
  readonly directory: string;
  /** This gateway. */
  readonly gateway: ProcessIdentity;
  readonly log: Log;
  /** Default: {@link defaultPatience}. */
  readonly patience?: Patience;
}

/**
 * The stdio servers that this gateway runs, each in a process group of its own. Each is on record before it is sent
 * anything: one that outlives a gateway that was killed is ended by the next one.
 */
export class StdioProcesses {
  /** By the group's number; with a promise those that are being ended. */
  private readonly running = new Map<number, Promise<void> | undefined>();
  private readonly patience: Patience;

  constructor(private readonly options: StdioProcessesOptions) {
    this.patience = options.patience ?? defaultPatience;
  }

  /** Starts a program. Its output is to be read from the same turn on. Rejects with the system's error. */
  async start({ command, args, environment, directory }: StdioProgram): Promise<StdioProcess> {
    const child = spawn(command, args, { cwd: directory, env: environment, detached: true, stdio: 'pipe' });
    await new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    const { pid } = child;
    if (pid === undefined) throw new Error(`${command} was started without a pid`);
    this.running.set(pid, undefined);
    const end = (): Promise<void> => this.end(child, pid);
    child.once('exit', () => void end());
    child.on('error', (error) => {
      this.options.log.warn('a process of an upstream server', { pid, reason: error.message });
    });
    return { child, recorded: this.record(pid), end };
  }

  /** Resolves when all those that are being ended are gone. */
  async settled(): Promise<void> {
    for (const ending of [...this.running.values()]) await ending;
  }

  /** For the moment in which this process ends: nothing of it is left. */
  kill(): void {
    for (const pid of this.running.keys()) signalGroup(pid, 'SIGKILL');
  }

  /** Ends what gateways left that are no more. A process that cannot be told for sure is let be. */
  async endLeftOver(): Promise<void> {
    const { directory } = this.options;
    const names = await readdir(directory).catch(() => []);
    await Promise.all(names.filter((name) => name.endsWith('.json')).map((name) => this.endRecorded(name)));
  }

  private async endRecorded(name: string): Promise<void> {
    const { directory, gateway, log } = this.options;
    const path = join(directory, name);
    const reading = await readJsonFile(path, recordSchema);
    if (reading.kind === 'ok') {
      const { process: left, gateway: owner } = reading.value;
      if (owner.pid === gateway.pid && owner.startTime === gateway.startTime) return;
      if ((await isSameProcess(owner)) !== 'gone') return;
      const presence = await isSameProcess(left);
      if (presence === 'unknown') return;
      if (presence === 'alive') {
        log.info('a server that a former gateway left is ended', { pid: left.pid });
        if (!(await endGroup(left.pid, this.patience.termination))) return;
      }
    }
    await rm(path, { force: true });
  }

  private end(child: ChildProcessWithoutNullStreams, pid: number): Promise<void> {
    if (!this.running.has(pid)) return Promise.resolve();
    const ending = this.running.get(pid) ?? this.endGroup(child, pid);
    this.running.set(pid, ending);
    return ending;
  }

  private async endGroup(child: ChildProcessWithoutNullStreams, pid: number): Promise<void> {
    const hasExited = child.exitCode !== null || child.signalCode !== null;
    child.stdin.end();
    const gone =
      (!hasExited && (await groupGone(pid, this.patience.endOfInput))) ||
      (await endGroup(pid, this.patience.termination));
    if (!gone) this.options.log.error('a process of an upstream server does not end', { pid });
    this.running.delete(pid);
    await rm(this.pathOf(pid), { force: true }).catch(() => undefined);
  }

  private async record(pid: number): Promise<void> {
    const { directory, gateway, log } = this.options;
    try {
      const identity = await processIdentity(pid);
      if (identity === undefined) return;
      await ensurePrivateDirectory(directory);
      await writeFileAtomic(this.pathOf(pid), `${JSON.stringify({ process: identity, gateway })}\n`);
      if (!this.running.has(pid)) await rm(this.pathOf(pid), { force: true });
    } catch (error) {
      log.warn('a process of an upstream server is not on record', { pid, reason: messageOf(error) });
    }
  }

  private pathOf(pid: number): string {
    return join(this.options.directory, `${pid}.json`);
  }
}
