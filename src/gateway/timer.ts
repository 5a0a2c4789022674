import { type Disposable, toDisposable } from '../base/lifecycle.ts';

/** Runs something once after `milliseconds`, unless what it returns is disposed before. */
export type After = (milliseconds: number, run: () => void) => Disposable;

/** The longest delay that `setTimeout` keeps; it runs at once beyond that. */
const longest = 2 ** 31 - 1;

export const after: After = (milliseconds, run) => {
  const timer = setTimeout(run, Math.min(Math.max(0, milliseconds), longest));
  return toDisposable(() => {
    clearTimeout(timer);
  });
};
