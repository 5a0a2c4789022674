import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

/**
 * The gateway lives for days and has little to do: V8 collects early and in one thread, and glibc keeps one arena and no
 * free memory. `--optimize-for-size` would spare 5 MB more and doubles what a call takes. No agent gets these: its
 * variables are chosen by name, see node/environment.ts.
 */
export const sparing = {
  options: ['--max-semi-space-size=2', '--single-threaded-gc'],
  environment: { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '65536' },
} as const;
/** Node's exit code for an option that it does not know. */
export const badOption = 9;

export interface Identity {
  readonly pid: number;
  readonly startTime: string;
}
/** What is read of holder.json. */
export interface HolderRecord extends Identity {
  readonly instance: string;
  readonly child?: Identity;
}

const largestLog = 1_000_000;

export function identityOf(pid: number): Identity | undefined {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

/** The same text as in node/processIdentity.ts; undefined for a process that is gone. */
export function startTimeOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `proc:${boot}:${String(fields[19])}`;
    }
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
    const output = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env, encoding: 'utf8' });
    const [state, ...start] = output.trim().split(/\s+/);
    return state === undefined || state.startsWith('Z') ? undefined : `ps:${start.join(' ')}`;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is HolderRecord {
  return isIdentity(value) && 'instance' in value && (!('child' in value) || isIdentity(value.child));
}

function isIdentity(value: unknown): value is Identity {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('startTime' in value)) return false;
  return Number.isSafeInteger(value.pid) && typeof value.startTime === 'string';
}

export function readText(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Changes whenever the file is written or replaced; undefined: there is none. */
export function markOf(path: string): string | undefined {
  const found = fs.statSync(path, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.mtimeMs}`;
}

export function isExecutable(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.X_OK);
    return fs.statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Siblings wait for holder.json, which means nothing after a crash of the machine: it does not wait for the disk.
 * Returns the {@link markOf} what was written, also when somebody has replaced it since.
 */
export function replaceFile(path: string, text: string, life: 'durable' | 'until reboot'): string | undefined {
  const temporary = `${path}.${randomBytes(9).toString('hex')}.tmp`;
  try {
    fs.writeFileSync(temporary, text, { flag: 'wx', mode: 0o600, flush: life === 'durable' });
    const mark = markOf(temporary);
    fs.renameSync(temporary, path);
    return mark;
  } finally {
    fs.rmSync(temporary, { force: true });
  }
}

/** A full disk must not keep the gateway from running: then its output is dropped. */
export function openLog(directory: string, name: string): number | 'ignore' {
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const descriptor = fs.openSync(join(directory, name), 'a', 0o600);
    if (fs.fstatSync(descriptor).size > largestLog) fs.ftruncateSync(descriptor);
    return descriptor;
  } catch (error) {
    say(`cannot open ${name}: ${String(error)}`);
    return 'ignore';
  }
}

export function say(sentence: string): void {
  try {
    fs.writeSync(2, `${new Date().toISOString()} holder ${process.pid}: ${sentence}\n`);
  } catch {
    // Nobody reads it: the port matters more than the word about it.
  }
}

export function sleep(milliseconds: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
