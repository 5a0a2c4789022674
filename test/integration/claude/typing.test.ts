import { readScreen } from '../../../src/core/claude/screen.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('typing into claude 2.1.332', function () {
  this.timeout(120_000);
  let rig: FleetRig;

  before(async () => {
    rig = await FleetRig.open({ version: '2.1.332', trusted: ['work'] });
  });

  after(async () => {
    await rig.dispose();
  });

  it('takes up its own line that an earlier try left, instead of taking it for the text of a person', async () => {
    await rig.create('ada', 'work');
    await rig.untilBound('ada');
    await rig.turn('ada', 'hello');
    const line = '/mcp reconnect bowline-self';
    const { bindings } = rig.agent('ada');
    // As an earlier try leaves it that saw nothing in time: the program itself cannot be stopped, tmux lets it go on.
    await rig.tmux('send-keys', '-t', '=ada:', '-l', line);
    await waitFor('the line on an idle screen', async () => {
      const reading = readScreen((await rig.tmux('capture-pane', '-e', '-p', '-t', '=ada:')).split('\n'));
      return reading.kind === 'input' && reading.text === line;
    });
    await rig.request({ kind: 'reconnect', name: 'ada', server: 'bowline-self' });
    await rig.until('ada', 'reconnected', (row, agent) => {
      return row.worst === 'bound' && agent.bindings['bowline-self']?.session !== bindings['bowline-self']?.session;
    });
  });
});
