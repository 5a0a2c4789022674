import { type Disposable, toDisposable } from './lifecycle.ts';

/** A subscription function: call it with a listener, dispose what it returns to stop. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** A source of events. Listeners run in the order of subscription; one that throws does not stop the others. */
export class Emitter<T> implements Disposable {
  private readonly listeners = new Set<(value: T) => void>();

  constructor(private readonly onListenerError: (error: unknown) => void = () => undefined) {}

  readonly event: Event<T> = (listener) => {
    const entry = (value: T): void => {
      listener(value);
    };
    this.listeners.add(entry);
    return toDisposable(() => this.listeners.delete(entry));
  };

  fire(value: T): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.onListenerError(error);
      }
    }
  }

  dispose(): void {
    this.listeners.clear();
  }
}
