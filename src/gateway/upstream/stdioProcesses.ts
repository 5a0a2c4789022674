import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { ensurePrivateDirectory, readJsonFile, writeFileAtomic } from '../../node/files.ts';
import { groupsWith, isSameProcess, type ProcessIdentity, processIdentity } from '../../node/processIdentity.ts';
import { defaultPatience, endGroup, groupGone, type Patience, signalGroup } from './stdioGroup.ts';

const identitySchema = z.object({ pid: z.int(), startTime: z.string() });
/** Without `process`: one was about to be started with this mark in its environment. */
const recordSchema = z.object({
  gateway: identitySchema,
  mark: z.exactOptional(z.string()),
  process: z.exactOptional(identitySchema),
});

/** By this a process is found that was started right before its gateway was killed. */
const markVariable = 'BOWLINE_UPSTREAM';

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

/** A process that runs, and its record. */
interface Running {
  readonly path: string;
  /** Absent: it is not being ended. */
  readonly ending?: Promise<void>;
}

/**
 * The stdio servers that this gateway runs, each in a process group of its own. That one is to be started is on record
 * before it is, and which one it is before it is sent anything: one that outlives a gateway that was killed is ended by
 * the next one.
 */
export class StdioProcesses {
  /** By the group's number. */
  private readonly running = new Map<number, Running>();
  private readonly starting = new Set<Promise<unknown>>();
  private readonly patience: Patience;

  constructor(private readonly options: StdioProcessesOptions) {
    this.patience = options.patience ?? defaultPatience;
  }

  /** Starts a program. Its output is to be read from the same turn on. Rejects with the system's error. */
  async start(program: StdioProgram): Promise<StdioProcess> {
    const started = this.begin(program);
    this.starting.add(started);
    try {
      return await started;
    } finally {
      this.starting.delete(started);
    }
  }

  /** Resolves when what was being started is, or is not, and all those that are being ended are gone. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.starting);
    for (const { ending } of [...this.running.values()]) await ending;
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

  private async begin({ command, args, environment, directory }: StdioProgram): Promise<StdioProcess> {
    const mark = randomUUID();
    const path = join(this.options.directory, `${mark}.json`);
    await this.announce(path, mark);
    const env = { ...environment, [markVariable]: mark };
    const child = spawn(command, args, { cwd: directory, env, detached: true, stdio: 'pipe' });
    try {
      await new Promise((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', reject);
      });
    } catch (error) {
      await remove(path);
      throw error;
    }
    const { pid } = child;
    if (pid === undefined) throw new Error(`${command} was started without a pid`);
    this.running.set(pid, { path });
    const end = (): Promise<void> => this.end(child, pid);
    child.once('exit', () => void end());
    child.on('error', (error) => {
      this.options.log.warn('a process of an upstream server', { pid, reason: error.message });
    });
    return { child, recorded: this.record(pid, path), end };
  }

  private async endRecorded(name: string): Promise<void> {
    const { directory, gateway, log } = this.options;
    const path = join(directory, name);
    const reading = await readJsonFile(path, recordSchema);
    if (reading.kind === 'ok') {
      const { process: left, mark, gateway: owner } = reading.value;
      if (owner.pid === gateway.pid && owner.startTime === gateway.startTime) return;
      if ((await isSameProcess(owner)) !== 'gone') return;
      const presence = left === undefined ? 'gone' : await isSameProcess(left);
      if (presence === 'unknown') return;
      const leaders = left === undefined && mark !== undefined ? await groupsWith(markVariable, mark) : [];
      for (const pid of left !== undefined && presence === 'alive' ? [left.pid] : leaders) {
        log.info('a server that a former gateway left is ended', { pid });
        if (!(await endGroup(pid, this.patience.termination))) return;
      }
    }
    await rm(path, { force: true });
  }

  private end(child: ChildProcessWithoutNullStreams, pid: number): Promise<void> {
    const running = this.running.get(pid);
    if (running === undefined) return Promise.resolve();
    const { path, ending = this.endGroup(child, pid, path) } = running;
    this.running.set(pid, { path, ending });
    return ending;
  }

  private async endGroup(child: ChildProcessWithoutNullStreams, pid: number, path: string): Promise<void> {
    const hasExited = child.exitCode !== null || child.signalCode !== null;
    child.stdin.end();
    const gone =
      (!hasExited && (await groupGone(pid, this.patience.endOfInput))) ||
      (await endGroup(pid, this.patience.termination));
    if (!gone) this.options.log.error('a process of an upstream server does not end', { pid });
    this.running.delete(pid);
    await remove(path);
  }

  /** Outlives the end of this process, not that of the machine, with which the server would end. */
  private async announce(path: string, mark: string): Promise<void> {
    const { directory, gateway, log } = this.options;
    try {
      await ensurePrivateDirectory(directory);
      await writeFile(path, `${JSON.stringify({ gateway, mark })}\n`, { mode: 0o600 });
    } catch (error) {
      log.warn('a process of an upstream server cannot be announced', { reason: messageOf(error) });
    }
  }

  private async record(pid: number, path: string): Promise<void> {
    const { gateway, log } = this.options;
    try {
      const identity = await processIdentity(pid);
      if (identity === undefined) return;
      await writeFileAtomic(path, `${JSON.stringify({ process: identity, gateway })}\n`);
      if (!this.running.has(pid)) await remove(path);
    } catch (error) {
      log.warn('a process of an upstream server is not on record', { pid, reason: messageOf(error) });
    }
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}
