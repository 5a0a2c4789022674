import { deepStrictEqual } from 'node:assert/strict';
import { FleetRig } from '../../harness/fleetRig.ts';

describe('sleep and another configuration of claude 2.1.332', function () {
  this.timeout(180_000);
  let rig: FleetRig;

  before(async () => {
    rig = await FleetRig.open({ version: '2.1.332', trusted: ['work'] });
  });

  after(async () => {
    await rig.dispose();
  });

  it('spares unsent text, and a prompt ends it in the same conversation', async () => {
    await rig.create('ada', 'work');
    await rig.untilBound('ada');
    await rig.turn('ada', 'remember 4711');
    const { session } = rig.agent('ada');
    await rig.untilInput('ada');
    await rig.tmux('send-keys', '-t', '=ada:', '-l', 'half a thought');
    await rig.request({ kind: 'configure', settings: { ...rig.state.settings, idleMinutes: 0.03 } });
    await rig.until('ada', 'kept awake', ({ life }, agent) => {
      return life === 'ready' && agent.life.kind === 'running' && agent.life.running.awake !== undefined;
    });
    deepStrictEqual(
      rig.state.timeline.some(({ text }) => text === 'not put to sleep: the input line holds unsent text'),
      true,
    );
    await rig.tmux('send-keys', '-t', '=ada:', 'C-u');
    await rig.until('ada', 'asleep', ({ life }) => life === 'sleeping');
    deepStrictEqual(
      rig.agent('ada').launches.map(({ reason }) => reason),
      ['idle'],
    );
    const { idleMinutes: _off, ...settings } = rig.state.settings;
    await rig.request({ kind: 'configure', settings });
    await rig.request({ kind: 'prompt', name: 'ada', id: 'wake-1', text: 'what was it?' });
    await rig.until('ada', 'awake with the prompt', (_row, { prompts }) => prompts?.[0]?.state.kind === 'received');
    const agent = rig.agent('ada');
    deepStrictEqual(
      [agent.session?.id, agent.life.kind === 'running' ? agent.life.running.launch.cause : agent.life.kind],
      [session?.id, 'wake'],
    );
  });

  it('takes another configuration by a relaunch with its conversation, when it is idle', async () => {
    const before = rig.agent('ada');
    await rig.until('ada', 'at rest', ({ life }, { activity }) => life === 'ready' && activity.kind === 'idle');
    await rig.request({
      kind: 'configure agent',
      name: 'ada',
      change: { model: 'sonnet', effort: 'high', systemPrompt: 'Be brief.' },
    });
    await rig.untilBound('ada', before.launchCount + 1);
    const agent = rig.agent('ada');
    const line = await rig.tmux('list-panes', '-t', '=ada:', '-F', '#{pane_start_command}');
    deepStrictEqual(
      {
        session: agent.session?.id,
        last: agent.launches.at(-1)?.reason,
        relaunch: agent.relaunch,
        words: ['--model=sonnet', '--effort=high', '--append-system-prompt=Be brief.'].filter((one) =>
          line.includes(one),
        ),
      },
      {
        session: before.session?.id,
        last: 'replaced',
        relaunch: undefined,
        words: ['--model=sonnet', '--effort=high', '--append-system-prompt=Be brief.'],
      },
    );
  });
});
