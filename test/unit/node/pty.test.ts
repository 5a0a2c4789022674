import assert from 'node:assert/strict';
import { loadPty } from '../../../src/node/pty.ts';

describe('loading node-pty', () => {
  it('says in one line why there is none', () => {
    const pty = { spawn: () => undefined };
    assert.deepStrictEqual(
      [
        loadPty(() => pty),
        loadPty(() => ({})),
        loadPty(() => {
          throw new Error("Cannot find module 'node-pty'\nRequire stack:\n- x");
        }),
      ],
      [
        pty,
        { unavailable: 'node-pty has no spawn function' },
        { unavailable: "node-pty does not load: Cannot find module 'node-pty'" },
      ],
    );
  });
});
