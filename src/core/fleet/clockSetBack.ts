import type { FleetState } from './state.ts';

/**
 * The state with no time after `at`, which the clock shows now: it was ahead, or has been set back. All numbers of the
 * state that are not times (counts, pids, sizes) are far below any time. The same object where nothing changes.
 */
export function withoutFuture(state: FleetState, at: number): FleetState {
  return earlier(state, at) as FleetState;
}

function earlier(value: unknown, at: number): unknown {
  if (typeof value === 'number') return Math.min(value, at);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const next = items.map((item) => earlier(item, at));
    return next.every((item, index) => item === items[index]) ? value : next;
  }
  const former: readonly (readonly [string, unknown])[] = Object.entries(value);
  const next = former.map(([key, item]) => [key, earlier(item, at)] as const);
  return next.every(([, item], index) => item === former[index]?.[1]) ? value : Object.fromEntries(next);
}
