/** Waits for `milliseconds`. Rejects with the signal's reason when aborted. */
export function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(toError(signal.reason));
      return;
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, milliseconds);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(toError(signal?.reason));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Lets everything that is due in this process run first. */
export function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Settles like `promise`, or rejects with `onTimeout()` after `milliseconds`. The promise itself is not cancelled. */
export function withTimeout<T>(promise: Promise<T>, milliseconds: number, onTimeout: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(onTimeout());
    }, milliseconds);
  });
  return Promise.race([promise, limit]).finally(() => {
    clearTimeout(timer);
  });
}

/** Runs tasks one after another, in the order of the calls. A failed task does not stop the next. */
export class Sequencer {
  private tail: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.tail.then(task, task);
    this.tail = result.catch(() => undefined);
    return result;
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('cancelled');
}
