import { deepStrictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { bundleFaultPrograms, type FaultPrograms } from '../../faults/faultFleet.ts';
import { FleetRig } from '../../harness/fleetRig.ts';

/** A stand-in for claude runs its hooks as claude does; everything else is real. */
describe('a launch line that is run once more', function () {
  this.timeout(120_000);
  let programs: FaultPrograms;
  let rig: FleetRig;

  before(async () => {
    programs = await bundleFaultPrograms();
    rig = await FleetRig.open({ version: '2.1.332', trusted: ['work'], transport: 'pipes' });
    const claudePath = path.join(rig.root, 'claude');
    const notes = path.join(rig.root, 'notes');
    const standIn = path.join(programs.directory, 'claudeStandInMain.js');
    await writeFile(claudePath, `#!/bin/sh\nexec '${process.execPath}' '${standIn}' "$@"\n`);
    await chmod(claudePath, 0o755);
    await appendFile(notes, '');
    const environment = { ...rig.state.settings.environment, STAND_IN_NOTES: notes };
    await rig.request({ kind: 'configure', settings: { ...rig.state.settings, claudePath, environment } });
    await rig.create('ada', 'work');
    await rig.untilBound('ada');
    await rig.turn('ada', 'hello');
  });

  after(async () => {
    await rig.dispose();
    await programs.dispose();
  });

  /** tmux on a server of its own. */
  async function elsewhere(...words: readonly string[]): Promise<string> {
    return (await promisify(execFile)('tmux', ['-S', path.join(rig.root, 'copy'), ...words])).stdout;
  }

  it('leaves the agent its conversation, and is warned of until that process is gone', async () => {
    const { life, session: before } = rig.agent('ada');
    if (life.kind !== 'running') throw new Error(`ada is ${life.kind}`);
    const read = async (file: string): Promise<readonly string[]> =>
      (await readFile(`/proc/${life.running.process.pid}/${file}`, 'utf8')).split('\0').slice(0, -1);
    const variables = (await read('environ')).filter((one) => !one.startsWith('TMUX'));
    const command = ['env', '-i', ...variables, ...(await read('cmdline'))];
    await elsewhere('-f', '/dev/null', 'new-session', '-d', '-c', path.join(rig.root, 'work'), '--', ...command);
    const pid = (await elsewhere('display-message', '-p', '#{pane_pid}')).trim();
    await rig.until('ada', 'warned of', (row) => row.warnings.length > 0);
    const { warnings } = rig.row('ada');
    await elsewhere('kill-server');
    await rig.turn('ada', 'still here');
    await rig.until('ada', 'not warned of', (row) => row.warnings.length === 0);
    const { session, lineage } = rig.agent('ada');
    deepStrictEqual(
      {
        warnings: warnings.map((text) => text.split(' runs under')[0]),
        id: session?.id,
        turns: session?.turnsCompleted,
        lineage,
      },
      { warnings: [`Another process (pid ${pid})`], id: before?.id, turns: 2, lineage: [] },
    );
  });
});
