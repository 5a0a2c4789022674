/** How the last runs of a server ended. Times in milliseconds since the epoch. */
export interface RestartHistory {
  /** Ends in a row that nobody wanted, each soon after its start. */
  readonly failures: number;
  readonly endedAt: number;
}

/** A run that lasted so long, in milliseconds, says that the server can work. */
export const soundRun: number = 60_000;

const waits = { first: 250, longest: 30_000 } as const;

/** After a run that ended although nobody wanted it. */
export function afterUnwantedEnd(
  former: RestartHistory | undefined,
  run: { readonly startedAt: number; readonly endedAt: number },
): RestartHistory {
  const { startedAt, endedAt } = run;
  const isSound = endedAt - startedAt >= soundRun;
  return { failures: isSound || former === undefined ? 1 : former.failures + 1, endedAt };
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
