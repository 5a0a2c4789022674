import assert from 'node:assert/strict';
import { isSupportedVersion } from '../../../../src/node/tmux/tmuxServer.ts';

describe('tmux version', () => {
  it('is 3.2 or later, however it is written', () => {
    const versions = ['3.2', '3.2-rc', '3.3a', 'next-3.6', '4.0', 'master', 'openbsd-7.4'];
    const older = ['3.1c', '2.9a', '1.8', 'openbsd-6.8', ''];
    assert.deepStrictEqual(
      [versions, older].map((list) => list.map(isSupportedVersion)),
      [versions.map(() => true), older.map(() => false)],
    );
  });
});
