import type { Event } from '../base/events.ts';
import { DisposableObject } from '../base/lifecycle.ts';
import type { Memory } from './memory.ts';

/** The part of `HandsHost` that is used here. */
export interface PipesSource {
  readonly fallback: string | undefined;
  readonly onStatus: Event<unknown>;
}

const key = 'pipesTold';

/** Tells a person once, for each reason, that tmux is driven over pipes: nothing is lost, so it is no repeated matter. */
export class PipesNotice extends DisposableObject {
  constructor(source: PipesSource, memory: Memory, tell: (sentence: string) => void) {
    super();
    this._register(
      source.onStatus(() => {
        const { fallback } = source;
        if (fallback === undefined || memory.get(key) === fallback) return;
        void memory.update(key, fallback);
        tell(
          `Bowline works, but drives tmux over pipes instead of a pseudo terminal: ${fallback.replace(/\.$/, '')}. Installing the extension again for this platform mends that.`,
        );
      }),
    );
  }
}
