import type { Disposable } from '../base/lifecycle.ts';

/** What the clock needs of the browser. */
export interface ClockPorts {
  /** Milliseconds since the epoch by the browser's own clock. */
  readonly wall: () => number;
  /** Runs something once after `delay` milliseconds, unless called off. */
  readonly later: (run: () => void, delay: number) => Disposable;
  readonly visible: () => boolean;
}

/** Draws something for a time and returns after how many milliseconds it would look different. */
export type TimeWatcher = (now: number) => number;

const shortestPause = 1_000;
const longestPause = 60_000;

/**
 * The host's time, which may differ from the browser's (another machine), and one timer for all that shows a time. Its
 * pauses grow with the age of what is shown; while the page is hidden it stands still.
 */
export class PageClock implements Disposable {
  private offset = 0;
  private readonly watchers = new Set<TimeWatcher>();
  private timer: { readonly at: number; readonly pending: Disposable } | undefined;

  constructor(private readonly ports: ClockPorts) {}

  /** Takes over the host's time, which a message just told. */
  synchronise(hostNow: number): void {
    this.offset = hostNow - this.ports.wall();
  }

  /** Milliseconds since the epoch by the host's clock. */
  now(): number {
    return this.ports.wall() + this.offset;
  }

  /** Calls `watcher` now and whenever it may look different, until disposed. */
  watch(watcher: TimeWatcher): Disposable {
    this.watchers.add(watcher);
    this.arm(watcher(this.now()));
    return {
      dispose: () => {
        this.watchers.delete(watcher);
        if (this.watchers.size === 0) this.stop();
      },
    };
  }

  /** To be called when the page was hidden or shown. */
  visibilityChanged(): void {
    if (this.ports.visible()) this.tick();
    else this.stop();
  }

  dispose(): void {
    this.watchers.clear();
    this.stop();
  }

  private tick(): void {
    this.stop();
    const now = this.now();
    let next = Infinity;
    for (const watcher of this.watchers) next = Math.min(next, watcher(now));
    if (next < Infinity) this.arm(next);
  }

  private arm(wanted: number): void {
    if (!this.ports.visible()) return;
    const pause = Math.min(Math.max(wanted, shortestPause), longestPause);
    const at = this.ports.wall() + pause;
    if (this.timer !== undefined && this.timer.at <= at) return;
    this.stop();
    const pending = this.ports.later(() => {
      this.tick();
    }, pause);
    this.timer = { at, pending };
  }

  private stop(): void {
    this.timer?.pending.dispose();
    this.timer = undefined;
  }
}
