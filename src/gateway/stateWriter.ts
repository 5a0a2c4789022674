import { messageOf } from '../base/errors.ts';
import type { Disposable } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { type After, after } from './timer.ts';

/** When a change must be on disk: within {@link StateWriterOptions.soonMs}, or with the next durable one. */
export type Urgency = 'durable' | 'lazy';

/** What a {@link StateWriter} works with. Times in milliseconds. */
export interface StateWriterOptions {
  /** Brings all changes up to now to disk. Never called again before it has settled. */
  readonly save: () => Promise<void>;
  /** Told at the first write that fails, and not again before one has succeeded. */
  readonly refused?: (error: unknown) => void;
  /** Told at the first write that succeeds after that. */
  readonly accepted?: () => void;
  readonly log: Log;
  readonly after?: After;
  /** 150 */
  readonly soonMs?: number;
  /** 60 000 */
  readonly lazyMs?: number;
  /** Pause after a failed write (1 000), twice as long after each further one, 16 times at most. */
  readonly retryMs?: number;
}

interface Waiter {
  readonly version: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** Brings the changes of a state to the disk: one write at a time, and each write takes all changes made before it. */
export class StateWriter implements Disposable {
  private readonly after: After;
  private version = 0;
  private written = 0;
  private waiters: Waiter[] = [];
  private writing = false;
  private timer: { readonly urgency: Urgency; readonly handle: Disposable } | undefined;
  /** How many writes have failed since the last one that did not. */
  private failures = 0;
  private disposed = false;

  constructor(private readonly options: StateWriterOptions) {
    this.after = options.after ?? after;
  }

  /** Tells that the state has changed. */
  changed(urgency: Urgency): void {
    this.version++;
    this.schedule(urgency);
  }

  /** Resolves when every change up to now is on disk; rejects when the write that would have taken it failed. */
  flush(): Promise<void> {
    if (this.written === this.version) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.waiters.push({ version: this.version, resolve, reject });
      void this.write();
    });
  }

  /** Stops the timers. What is not on disk stays unwritten: `flush` before. */
  dispose(): void {
    this.disposed = true;
    this.timer?.handle.dispose();
    this.timer = undefined;
  }

  private schedule(urgency: Urgency, delay?: number): void {
    if (this.disposed || this.timer?.urgency === 'durable' || this.timer?.urgency === urgency) return;
    this.timer?.handle.dispose();
    const { soonMs = 150, lazyMs = 60_000 } = this.options;
    const handle = this.after(delay ?? (urgency === 'durable' ? soonMs : lazyMs), () => {
      this.timer = undefined;
      void this.write();
    });
    this.timer = { urgency, handle };
  }

  private async write(): Promise<void> {
    if (this.writing) return;
    this.writing = true;
    do {
      this.timer?.handle.dispose();
      this.timer = undefined;
      const { version } = this;
      try {
        await this.options.save();
        this.written = version;
        this.settle(version, (waiter) => {
          waiter.resolve();
        });
        if (this.failures > 0) this.options.accepted?.();
        this.failures = 0;
      } catch (error) {
        this.options.log.error('the state cannot be written', { reason: messageOf(error) });
        this.settle(version, (waiter) => {
          waiter.reject(error);
        });
        this.schedule('durable', (this.options.retryMs ?? 1_000) * 2 ** Math.min(this.failures, 4));
        if (this.failures++ === 0) this.options.refused?.(error);
      }
    } while (this.waiters.length > 0);
    this.writing = false;
  }

  private settle(version: number, tell: (waiter: Waiter) => void): void {
    const due = this.waiters.filter((waiter) => waiter.version <= version);
    this.waiters = this.waiters.filter((waiter) => waiter.version > version);
    due.forEach(tell);
  }
}
