import type { ProbeSample } from '../protocol/webview.ts';

/** Round trips of the probes that were seen, in whole milliseconds. */
export interface ProbeFigures {
  readonly latest: number;
  readonly median: number;
  readonly worst: number;
  readonly unanswered: number;
}

/** Undefined where no probe was answered. */
export function probeFigures(probes: readonly ProbeSample[]): ProbeFigures | undefined {
  const answered = probes.flatMap(({ ms }) => ms ?? []);
  const sorted = [...answered].sort((a, b) => a - b);
  const latest = answered.at(-1);
  const median = sorted[sorted.length >> 1];
  const worst = sorted.at(-1);
  if (latest === undefined || median === undefined || worst === undefined) return undefined;
  return {
    ...{ latest: Math.round(latest), median: Math.round(median), worst: Math.round(worst) },
    unanswered: probes.length - answered.length,
  };
}
