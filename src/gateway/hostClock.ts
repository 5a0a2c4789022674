import { type Disposable, toDisposable } from '../base/lifecycle.ts';

/** Two readings of the time, in milliseconds. */
export interface ClockReading {
  readonly wall: number;
  readonly monotonic: number;
}

/** A jump that no scheduling explains. */
const jumpMs = 10_000;
const everyMs = 2_000;

/**
 * Whether the host slept, or its clock was set, between two readings that were to be `everyMs` apart: the clocks went
 * apart (Linux: the monotonic one stands still in sleep), or both went on while this process did not run (macOS).
 */
export function hostSlept(before: ClockReading, after: ClockReading, expectedMs: number): boolean {
  const wall = after.wall - before.wall;
  const monotonic = after.monotonic - before.monotonic;
  return Math.abs(wall - monotonic) > jumpMs || monotonic - expectedMs > jumpMs;
}

/** Calls `onResumed` after the host slept. */
export function watchHostSleep(onResumed: () => void, read: () => ClockReading = readClocks): Disposable {
  let before = read();
  const timer = setInterval(() => {
    const now = read();
    if (hostSlept(before, now, everyMs)) onResumed();
    before = now;
  }, everyMs);
  return toDisposable(() => {
    clearInterval(timer);
  });
}

function readClocks(): ClockReading {
  return { wall: Date.now(), monotonic: performance.now() };
}
