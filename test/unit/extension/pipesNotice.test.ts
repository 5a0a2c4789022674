import { deepStrictEqual } from 'node:assert/strict';
import { Emitter } from '../../../src/base/events.ts';
import { PipesNotice } from '../../../src/extension/pipesNotice.ts';

describe('the notice about pipes', () => {
  it('is given once for each reason, also by the windows that come after', () => {
    const told: string[] = [];
    const kept = new Map<string, unknown>();
    const memory = {
      get: (name: string) => kept.get(name),
      update: (name: string, value: unknown) => Promise.resolve(void kept.set(name, value)),
    };
    for (const reason of [undefined, 'node-pty does not load.', 'node-pty does not load.', 'it cannot start']) {
      const status = new Emitter<undefined>();
      const source = { fallback: reason, onStatus: status.event };
      const notice = new PipesNotice(source, memory, (sentence) => told.push(sentence));
      status.fire(undefined);
      status.fire(undefined);
      notice.dispose();
    }
    const sentence = (reason: string): string =>
      `Bowline works, but drives tmux over pipes instead of a pseudo terminal: ${reason}. Installing the extension again for this platform mends that.`;
    deepStrictEqual(told, [sentence('node-pty does not load'), sentence('it cannot start')]);
  });
});
