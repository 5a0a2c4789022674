import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isErrorWithCode } from './files.ts';

/**
 * A process that cannot be mistaken for a later one with the same pid. `startTime` is opaque and compared for equality:
 * on Linux boot id and start in clock ticks since boot (proc(5), /proc/pid/stat field 22), elsewhere `ps -o lstart`.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** Programs that start programs are not nested deeper. */
const deepestTree = 16;

/** `unknown`: it could not be found out, which is never a reason to act. */
export type ProcessPresence = 'alive' | 'gone' | 'unknown';

type Reading = { readonly kind: 'alive'; readonly startTime: string } | { readonly kind: 'gone' | 'unknown' };

/** The identity of a running process, or undefined when there is none or it cannot be read. A zombie counts as none. */
export async function processIdentity(pid: number): Promise<ProcessIdentity | undefined> {
  const reading = await read(pid);
  return reading.kind === 'alive' ? { pid, startTime: reading.startTime } : undefined;
}

/** Whether the process of `identity` still runs. A zombie, or another process under that pid, counts as `gone`. */
export async function isSameProcess(identity: ProcessIdentity): Promise<ProcessPresence> {
  const reading = await read(identity.pid);
  if (reading.kind !== 'alive') return reading.kind;
  // An identity taken by the other method cannot be compared.
  if (method(reading.startTime) !== method(identity.startTime)) return 'unknown';
  return reading.startTime === identity.startTime ? 'alive' : 'gone';
}

/** Whether a process is `ancestor` or was started below it. What cannot be found out is `false`. */
export async function isWithin(pid: number, ancestor: number): Promise<boolean> {
  return (await kinshipOf(pid, ancestor)) === 'within';
}

/** The same, and whether the way up was followed to its end without meeting `ancestor`: `outside`. */
export async function kinshipOf(pid: number, ancestor: number): Promise<'within' | 'outside' | 'unknown'> {
  let current: number | undefined = pid;
  for (let level = 0; level < deepestTree && current !== undefined; level++) {
    if (current === ancestor) return 'within';
    if (current <= 1) return 'outside';
    current = await parentOf(current);
  }
  return 'unknown';
}

async function parentOf(pid: number): Promise<number | undefined> {
  try {
    if (process.platform === 'linux') return parseProcStat(await readFile(`/proc/${pid}/stat`, 'utf8'))?.parent;
    const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=', '-p', String(pid)], { timeout: 5000 });
    return Number(stdout.trim()) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Leaders of the process groups in which this variable is set, among the processes of this user. Only Linux tells; elsewhere
 * there are none.
 */
export async function groupsWith(variable: string, value: string): Promise<readonly number[]> {
  if (process.platform !== 'linux') return [];
  const groups = new Set<number>();
  const setting = `\0${variable}=${value}\0`;
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (!`\0${environment}`.includes(setting)) continue;
    const stat = parseProcStat(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));
    if (stat !== undefined) groups.add(stat.group);
  }
  return [...groups];
}

/**
 * State letter, parent, group and start time (field 22) of a /proc/pid/stat line. The name in parentheses may itself hold spaces and
 * parentheses, so the fields are counted from the last one.
 */
export function parseProcStat(
  line: string,
): { state: string; parent: number; group: number; startTicks: string } | undefined {
  const end = line.lastIndexOf(')');
  const fields = end < 0 ? [] : line.slice(end + 2).split(' ');
  const [state] = fields;
  const startTicks = fields[19];
  return state !== undefined && startTicks !== undefined && /^\d+$/.test(startTicks)
    ? { state, parent: Number(fields[1]), group: Number(fields[2]), startTicks }
    : undefined;
}

async function read(pid: number): Promise<Reading> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return { kind: 'gone' };
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid);
}

async function readFromProc(pid: number): Promise<Reading> {
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    const stat = parseProcStat(await readFile(`/proc/${pid}/stat`, 'utf8'));
    if (!stat) return { kind: 'unknown' };
    if (stat.state === 'Z' || stat.state === 'X') return { kind: 'gone' };
    return { kind: 'alive', startTime: `proc:${boot}:${stat.startTicks}` };
  } catch (error) {
    if (!isErrorWithCode(error, 'ENOENT') && !isErrorWithCode(error, 'ESRCH')) return { kind: 'unknown' };
    return { kind: signalReaches(pid) ? 'unknown' : 'gone' };
  }
}

async function readFromPs(pid: number): Promise<Reading> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      timeout: 5000,
    });
    const [state, ...start] = stdout.trim().split(/\s+/);
    if (state === undefined || start.length === 0) return { kind: 'unknown' };
    return state.startsWith('Z') ? { kind: 'gone' } : { kind: 'alive', startTime: `ps:${start.join(' ')}` };
  } catch {
    return { kind: signalReaches(pid) ? 'unknown' : 'gone' };
  }
}

/** Whether the kernel knows the pid at all. EPERM means yes. */
function signalReaches(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isErrorWithCode(error, 'ESRCH');
  }
}

function method(startTime: string): string {
  return startTime.slice(0, startTime.indexOf(':'));
}
