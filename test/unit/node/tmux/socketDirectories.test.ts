import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimSocketDirectory } from '../../../../src/node/tmux/socketDirectories.ts';
import { statePaths } from '../../../../src/node/statePaths.ts';

describe('socket directories', () => {
  let root: string;
  const states: string[] = [];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'bowline-sockets-'));
  });
  afterEach(() => {
    for (const state of states.splice(0))
      rmSync(statePaths(state).fleetSocketDirectory, { recursive: true, force: true });
    rmSync(root, { recursive: true });
  });

  /** A state directory whose path is too long for a socket in it. */
  async function claimed(name: string): Promise<string> {
    const state = join(root, name.padEnd(110, '-'));
    states.push(state);
    mkdirSync(state);
    await claimSocketDirectory(state);
    return state;
  }

  it('of state directories that are gone are removed; those that are used, or hold more, stay', async () => {
    const [gone, used, lives, more] = await Promise.all(['gone', 'used', 'lives', 'more'].map(claimed));
    assert.ok(gone !== undefined && used !== undefined && lives !== undefined && more !== undefined);
    const left = (state: string): boolean => existsSync(statePaths(state).fleetSocketDirectory);
    writeFileSync(statePaths(gone).fleetSocket, ''); // a socket that nobody listens to
    writeFileSync(join(statePaths(more).fleetSocketDirectory, 'of somebody'), '');
    const server = createServer().listen(statePaths(lives).fleetSocket);
    try {
      for (const state of [gone, lives, more]) rmSync(state, { recursive: true });
      await claimed('next');
      assert.deepStrictEqual([gone, used, lives, more].map(left), [false, true, true, true]);
    } finally {
      server.close();
    }
  });

  it('in a state directory get no mark', async () => {
    const state = join(root, 'state');
    await claimSocketDirectory(state);
    assert.deepStrictEqual([existsSync(state), existsSync(join(state, 'owner'))], [true, false]);
  });
});
