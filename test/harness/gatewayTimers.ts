import { type Disposable, toDisposable } from '../../src/base/lifecycle.ts';
import type { After } from '../../src/gateway/timer.ts';

/** Timers that run when the test says so. */
export class FakeTimers {
  private readonly waiting = new Map<Disposable, { readonly milliseconds: number; run(): void }>();

  readonly after: After = (milliseconds, run) => {
    const handle = toDisposable(() => this.waiting.delete(handle));
    this.waiting.set(handle, { milliseconds, run });
    return handle;
  };

  delays(): number[] {
    return [...this.waiting.values()].map(({ milliseconds }) => milliseconds);
  }

  /** Runs every timer that waits now. */
  fire(): void {
    for (const [handle, timer] of [...this.waiting]) {
      handle.dispose();
      timer.run();
    }
  }
}
