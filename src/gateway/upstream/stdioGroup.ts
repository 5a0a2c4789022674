import { delay } from '../../base/async.ts';
import { isErrorWithCode } from '../../node/files.ts';

/** How long each step of an ending may take, in milliseconds. */
export interface Patience {
  /** For a server to end because nobody writes to it any more: how the stdio transport says that a session is over. */
  readonly endOfInput: number;
  /** From SIGTERM to SIGKILL. */
  readonly termination: number;
}

/** As the reference SDK has it. */
export const defaultPatience: Patience = { endOfInput: 2000, termination: 2000 };

/** A killed process goes within this, in milliseconds; then nobody waits for it any more. */
const killLimit = 2000;
const lookEvery = 20;

/**
 * Ends a process group: SIGTERM, then SIGKILL. The number is not given to another group while a process of this one is
 * left, and it is looked for so often that nobody else gets it between two looks. Resolves with whether it is gone.
 */
export async function endGroup(leader: number, termination: number): Promise<boolean> {
  for (const [signal, limit] of [
    ['SIGTERM', termination],
    ['SIGKILL', killLimit],
  ] as const) {
    if (!signalGroup(leader, signal)) return true;
    if (await groupGone(leader, limit)) return true;
  }
  return false;
}

/** Resolves with true as soon as no process of the group is left, with false after `limit` milliseconds. */
export async function groupGone(leader: number, limit: number): Promise<boolean> {
  const until = performance.now() + limit;
  while (signalGroup(leader, 0)) {
    if (performance.now() > until) return false;
    await delay(lookEvery);
  }
  return true;
}

/** False: nobody is left to be reached. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    // EPERM: only zombies are left (macOS).
    if (isErrorWithCode(error, 'ESRCH') || isErrorWithCode(error, 'EPERM')) return false;
    throw error;
  }
}
