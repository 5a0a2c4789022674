/** Something that holds a resource until `dispose` is called. `dispose` may be called more than once. */
export interface Disposable {
  dispose(): void;
}

/** Wraps a function as a disposable that runs it at most once. */
export function toDisposable(run: () => void): Disposable {
  let done = false;
  return {
    dispose() {
      if (done) return;
      done = true;
      run();
    },
  };
}

/** Owns other disposables. Disposes them in reverse order and goes on past errors, which it throws together at the end. */
export class DisposableStore implements Disposable {
  private readonly owned = new Set<Disposable>();
  private disposed = false;

  /** Takes ownership. After `dispose` a new item is disposed at once. */
  add<T extends Disposable>(item: T): T {
    if (this.disposed) item.dispose();
    else this.owned.add(item);
    return item;
  }

  /** Disposes one owned item now. */
  delete(item: Disposable): void {
    if (this.owned.delete(item)) item.dispose();
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    const errors: unknown[] = [];
    for (const item of [...this.owned].reverse()) {
      try {
        item.dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    this.owned.clear();
    if (errors.length > 0) throw new AggregateError(errors, 'dispose failed');
  }
}

/** Base class whose parts are owned on the line that creates them: `this._register(new Part())`. */
export abstract class DisposableObject implements Disposable {
  private readonly store = new DisposableStore();

  protected _register<T extends Disposable>(item: T): T {
    return this.store.add(item);
  }

  dispose(): void {
    this.store.dispose();
  }
}
