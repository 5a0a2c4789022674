/** Two readings of the time, in milliseconds. */
export interface ClockReading {
  readonly wall: number;
  readonly monotonic: number;
}

/** A jump that no scheduling explains. */
const jumpMs = 10_000;

/**
 * Whether the host slept, or its clock was set, between two readings that were to be `everyMs` apart: the clocks went
 * apart (Linux: the monotonic one stands still in sleep), or both went on while this process did not run (macOS).
 */
export function hostSlept(before: ClockReading, after: ClockReading, expectedMs: number): boolean {
  const wall = after.wall - before.wall;
  const monotonic = after.monotonic - before.monotonic;
  return Math.abs(wall - monotonic) > jumpMs || monotonic - expectedMs > jumpMs;
}

/** Finds out that the host slept, by looking at the clocks at intervals. */
export class HostClock {
  private before: ClockReading;

  /** `everyMs`: between two looks. */
  constructor(
    private readonly everyMs: number,
    private readonly onResumed: () => void,
    private readonly read: () => ClockReading = readClocks,
  ) {
    this.before = read();
  }

  look(): void {
    const now = this.read();
    const slept = hostSlept(this.before, now, this.everyMs);
    this.before = now;
    if (slept) this.onResumed();
  }
}

function readClocks(): ClockReading {
  return { wall: Date.now(), monotonic: performance.now() };
}
