import { recordOf, textOf } from './fields.ts';

/** Claude's own word on one of its processes: `<config>/sessions/<pid>.json` (measured, claude 2.1.160 and 2.1.332). */
export interface LiveSession {
  readonly pid: number;
  readonly sessionId: string;
  readonly directory: string;
  readonly version: string;
  readonly status: 'busy' | 'idle' | 'waiting';
  /** With `waiting`: `permission prompt`, `dialog open`, ... */
  readonly waitingFor?: string;
  /** Milliseconds since the epoch. `updatedAt` may be a little before `startedAt`. */
  readonly startedAt: number;
  readonly updatedAt: number;
}

/** Reads a parsed live-session file. `undefined` if it is none, or of a form that is not known. */
export function readLiveSession(value: unknown): LiveSession | undefined {
  const fields = recordOf(value);
  if (fields === undefined) return undefined;
  const { pid, status, startedAt, updatedAt } = fields;
  const sessionId = textOf(fields['sessionId']);
  const directory = textOf(fields['cwd']);
  const version = textOf(fields['version']);
  const waitingFor = textOf(fields['waitingFor']);
  if (status !== 'busy' && status !== 'idle' && status !== 'waiting') return undefined;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (typeof startedAt !== 'number' || typeof updatedAt !== 'number') return undefined;
  if (sessionId === undefined || directory === undefined || version === undefined) return undefined;
  return {
    pid,
    sessionId,
    directory,
    version,
    status,
    ...(waitingFor !== undefined && { waitingFor }),
    startedAt,
    updatedAt,
  };
}

/** What a process works on, as its live-session file says it from its first moment on; the conversation always. */
export interface SessionClaim {
  readonly pid: number;
  readonly sessionId: string;
  /** Start of the process in clock ticks since boot (Linux; measured, claude 2.1.160 and 2.1.332). */
  readonly processStart?: string;
  readonly directory?: string;
  readonly version?: string;
  /** `interactive`: a person works in it. */
  readonly kind?: string;
  /** `cli`: it was started in a terminal. */
  readonly entrypoint?: string;
  /** Absent: it does not tell (yet); never taken for `idle`. */
  readonly status?: LiveSession['status'];
  readonly waitingFor?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt?: number;
}

/** Reads a parsed live-session file for that; it may still be without a status. `undefined` if it is none. */
export function readSessionClaim(value: unknown): SessionClaim | undefined {
  const fields = recordOf(value);
  if (fields === undefined) return undefined;
  const { pid, status, startedAt } = fields;
  const sessionId = textOf(fields['sessionId']);
  if (typeof pid !== 'number' || sessionId === undefined) return undefined;
  const processStart = textOf(fields['procStart']);
  const directory = textOf(fields['cwd']);
  const version = textOf(fields['version']);
  const kind = textOf(fields['kind']);
  const entrypoint = textOf(fields['entrypoint']);
  const waitingFor = textOf(fields['waitingFor']);
  return {
    pid,
    sessionId,
    ...(processStart !== undefined && { processStart }),
    ...(directory !== undefined && { directory }),
    ...(version !== undefined && { version }),
    ...(kind !== undefined && { kind }),
    ...(entrypoint !== undefined && { entrypoint }),
    ...((status === 'busy' || status === 'idle' || status === 'waiting') && { status }),
    ...(waitingFor !== undefined && { waitingFor }),
    ...(typeof startedAt === 'number' && { startedAt }),
  };
}
