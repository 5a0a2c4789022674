/** How the last runs of a server ended. Times in milliseconds since the epoch. */
export interface RestartHistory {
  /** Ends in a row that nobody wanted, each soon after its start. */
  readonly failures: number;
  readonly endedAt: number;
}

/** A run that lasted so long, in milliseconds, says that the server can work. */
export const soundRun: number = 60_000;

const waits = { first: 250, longest: 30_000 } as const;

/**
 * After a run that ended although nobody wanted it. Each session has a run of its own: one that began before the last end
 * says nothing new about restarts, as when all are killed at once.
 */
export function afterUnwantedEnd(
  former: RestartHistory | undefined,
  run: { readonly startedAt: number; readonly endedAt: number },
): RestartHistory {
  const { startedAt, endedAt } = run;
  if (former === undefined) return { failures: 1, endedAt };
  if (startedAt <= former.endedAt) return { failures: former.failures, endedAt };
  return { failures: endedAt - startedAt >= soundRun ? 1 : former.failures + 1, endedAt };
}

/**
 * Milliseconds until it may be started again: at once after one such end, then 250 ms that double up to 30 s. A clock
 * that was set back makes no wait longer.
 */
export function restartWait({ failures, endedAt }: RestartHistory, now: number): number {
  if (failures < 2) return 0;
  const wait = Math.min(waits.first * 2 ** (failures - 2), waits.longest);
  return Math.min(wait, Math.max(0, endedAt + wait - now));
}
