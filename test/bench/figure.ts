/** One figure of the bench: a median, beside its reference of the same run where it has one. */
export interface Reading {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the value is compared with, measured in the same run. */
  readonly reference?: number;
  /** Largest good ratio where there is a reference; else the largest good value, which is only printed. */
  readonly goal: number;
  /** More is better: `goal` is the smallest good ratio. */
  readonly better?: 'more';
  /** What the median does not show: the worst, refused connections. */
  readonly remark?: string;
  /** Something that must not happen at all did: the figure is short whatever its ratio. */
  readonly failed?: boolean;
}

export interface Figure {
  /** For `npm run bench -- NAME`. */
  readonly name: string;
  measure(): Promise<readonly Reading[]>;
}

/** A reading as a line, and whether it makes the bench fail: only one with a ratio does. */
export function judge(reading: Reading): { readonly line: string; readonly passes: boolean } {
  const { name, value, unit, reference, goal, better, remark, failed = false } = reading;
  const ratio = reference === undefined ? undefined : value / reference;
  const judged = ratio ?? value;
  const isGood = (better === 'more' ? judged >= goal : judged <= goal) && !failed;
  const sign = better === 'more' ? '>=' : '<=';
  const cells = [
    name.padEnd(38),
    `${rounded(value)} ${unit}`.padStart(12),
    (reference === undefined ? '-' : `${rounded(reference)} ${unit}`).padStart(12),
    (ratio === undefined ? '-' : ratio.toFixed(2)).padStart(6),
    `${sign} ${ratio === undefined ? `${goal} ${unit}` : `${Number(goal.toFixed(2))} x`}`.padStart(12),
    isGood ? 'ok   ' : 'short',
    remark ?? '',
  ];
  return { line: cells.join('  ').trimEnd(), passes: isGood || (ratio === undefined && !failed) };
}

/** The value that a part of `share` (0 to 1) of all does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = NaN, high = NaN] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}

function rounded(value: number): string {
  return value < 10 ? value.toFixed(2) : value.toFixed(value < 100 ? 1 : 0);
}
