import { deepStrictEqual } from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FleetRig } from '../../harness/fleetRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('identity of a process', function () {
  this.timeout(60_000);
  let rig: FleetRig;

  before(async () => {
    rig = await FleetRig.open({ version: '2.1.332', trusted: ['work'] });
  });

  after(async () => {
    await rig.dispose();
  });

  it('is the launch on its pane, not the command that tmux shows: a version, for claude (case 22)', async () => {
    const standIn = path.join(rig.root, 'stand-in');
    await writeFile(standIn, '#!/bin/bash\nexec -a 2.1.34 sleep 1000\n');
    await chmod(standIn, 0o700);
    await rig.request({ kind: 'configure', settings: { claudePath: standIn, environment: {}, healing: 'off' } });
    await rig.create('ada', 'work');
    const command = await waitFor('the name of the stand-in', async () => {
      const shown = await rig.tmux('list-panes', '-t', '=ada:', '-F', '#{pane_current_command}');
      return shown.trim() === '2.1.34' && shown.trim();
    });
    // A second agent makes tmux push the panes anew: the first is judged again.
    await rig.create('bo', 'work');
    await rig.until('bo', 'running', (_row, agent) => agent.life.kind === 'running');
    deepStrictEqual([command, rig.agent('ada').life.kind], ['2.1.34', 'running']);
    for (const name of ['ada', 'bo']) await rig.request({ kind: 'remove', name });
  });
});
