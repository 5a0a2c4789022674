import { deepStrictEqual } from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FleetWatch } from '../../../src/extension/fleetWatch.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('a window on a machine without a fleet', () => {
  let root: string;
  let joined: number;
  let watch: FleetWatch;

  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'bowline-watch-'));
    joined = 0;
    watch = new FleetWatch(path.join(root, 'state'), () => joined++, 5);
  });
  afterEach(async () => {
    watch.dispose();
    await rm(root, { recursive: true, force: true });
  });

  it('joins the fleet that another window makes', async () => {
    await watch.look();
    deepStrictEqual(joined, 0);
    await mkdir(path.join(root, 'state'));
    await waitFor('the fleet', () => joined === 1);
  });

  it('joins at once where there is a fleet', async () => {
    await mkdir(path.join(root, 'state'));
    await watch.look();
    deepStrictEqual(joined, 1);
  });
});
