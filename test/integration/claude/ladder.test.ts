import { deepStrictEqual } from 'node:assert/strict';
import path from 'node:path';
import { claudeBinary } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { WrappedClaude } from '../../harness/wrappedClaude.ts';

describe('the whole healing ladder (claude 2.1.332)', function () {
  this.timeout(240_000);
  let rig: FleetRig;
  let claude: WrappedClaude;

  before(async () => {
    rig = await FleetRig.open({ version: '2.1.332', trusted: ['work'] });
    claude = await WrappedClaude.create(path.join(rig.root, 'wrapped'), claudeBinary('2.1.332'));
    const settings = { ...rig.state.settings, claudePath: claude.program };
    await rig.request({ kind: 'configure', settings });
  });

  after(async () => {
    await rig.dispose();
  });

  it('reconnects, resumes, and starts fresh once over a good save, where each resume comes up deaf', async () => {
    await rig.create('ada', 'work');
    await rig.untilBound('ada');
    await rig.turn('ada', 'CALL mcp__bowline-self__save_my_context {"context":"all that matters"}');
    const conversation = rig.agent('ada').session?.id;
    await claude.behave('ada', 'resume', { mcp: 'strip' });
    await rig.request({ kind: 'restart', name: 'ada', mode: 'resume', guard: 'enforce' });
    await rig.until('ada', 'resumed by healing', (_row, { launchCount }) => launchCount === 3);
    await rig.untilBound('ada', 4);
    const { launches, session, incidents, lineage } = rig.agent('ada');
    const steps = rig.state.timeline.filter(({ text }) =>
      /(?<!launch) (started|failed|verified)\b|unbound|bound again/.test(text),
    );
    deepStrictEqual(
      {
        steps: steps.map(({ text }) => text.replace(/:.*/, '')),
        launches: launches.map(({ launch, reason }) => `${launch.mode} by ${launch.cause} ${reason}`),
        resumed: launches.map(({ launch }) => launch.expectedSessionId === conversation),
        starts: (await claude.starts()).map(({ arguments: words }) =>
          words.some((word) => word.startsWith('--resume')),
        ),
        isNew: session?.id !== conversation && lineage.some(({ id }) => id === conversation),
        incidents,
      },
      {
        steps: [
          'process started (fresh)',
          'process started (resume)',
          'unbound',
          'reconnect started',
          'reconnect failed',
          'reconnect started',
          'reconnect failed',
          'resume started',
          'process started (resume)',
          'resume failed',
          'fresh started',
          'process started (fresh)',
          'fresh verified',
          'bound again',
        ],
        launches: ['fresh by person replaced', 'resume by person replaced', 'resume by healing replaced'],
        resumed: [false, true, true],
        starts: [false, true, true, false],
        isNew: true,
        incidents: {},
      },
    );
  });
});
