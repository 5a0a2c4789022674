import type { Disposable } from '../base/lifecycle.ts';
import type { PageClock } from './pageClock.ts';
import { clockTime, nextChangeIn, relativeTime } from './relativeTime.ts';

/**
 * `<bowline-ago .clock=${clock} .at=${milliseconds}>`: how long ago something was, kept true by the clock without any
 * rendering around it.
 */
export class AgoElement extends HTMLElement {
  static readonly tag = 'bowline-ago';

  private shownAt: number | undefined;
  private usedClock: PageClock | undefined;
  private watch: Disposable | undefined;

  set at(at: number) {
    this.shownAt = at;
    this.rewatch();
  }

  set clock(clock: PageClock) {
    this.usedClock = clock;
    this.rewatch();
  }

  connectedCallback(): void {
    this.rewatch();
  }

  disconnectedCallback(): void {
    this.watch?.dispose();
    this.watch = undefined;
  }

  private rewatch(): void {
    this.watch?.dispose();
    this.watch = undefined;
    const at = this.shownAt;
    if (!this.isConnected || at === undefined || this.usedClock === undefined) return;
    this.title = clockTime(at, this.usedClock.now());
    this.watch = this.usedClock.watch((now) => {
      const text = relativeTime(at, now);
      if (this.textContent !== text) this.textContent = text;
      return nextChangeIn(at, now);
    });
  }
}
