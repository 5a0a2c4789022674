import { delay } from '../../base/async.ts';
import { BowlineError } from '../../base/errors.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import { isErrorWithCode } from '../files.ts';
import { isSameProcess, processIdentity } from '../processIdentity.ts';

/** How long a process may take after SIGHUP, and after SIGKILL, in milliseconds. */
const limits = { hangUp: 5_000, kill: 3_000 } as const;

/**
 * Ends the pane's process and waits until it is gone: SIGHUP, on which Claude runs its SessionEnd hook (measured, claude
 * 2.1.160 and 2.1.332), then SIGKILL. The pane itself stays. Rejects with `tmux-failed` when the process outlives both.
 */
export async function endProcess(pane: PaneInfo): Promise<void> {
  if (pane.dead) return;
  const identity = await processIdentity(pane.pid);
  if (identity === undefined) return;
  for (const [signal, limit] of [
    ['SIGHUP', limits.hangUp],
    ['SIGKILL', limits.kill],
  ] as const) {
    if ((await isSameProcess(identity)) === 'gone' || !sendSignal(identity.pid, signal)) return;
    const until = performance.now() + limit;
    while (performance.now() < until) {
      if ((await isSameProcess(identity)) === 'gone') return;
      await delay(20);
    }
  }
  throw new BowlineError(
    'tmux-failed',
    `The process ${pane.pid} of ${pane.sessionName} does not end. End it yourself, then try again.`,
  );
}

/** False: there is no such process any more. */
function sendSignal(pid: number, signal: 'SIGHUP' | 'SIGKILL'): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (isErrorWithCode(error, 'ESRCH')) return false;
    throw error;
  }
}
