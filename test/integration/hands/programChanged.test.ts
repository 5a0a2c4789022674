import { deepStrictEqual } from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { alarmsOf } from '../../../src/core/fleet/alarms.ts';
import { isSameProcess, processIdentity } from '../../../src/node/processIdentity.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { HandsRig } from './handsRig.ts';

/** The real hands on a real tmux, with a stand-in for claude that only stays. */
describe('the program of a running agent (case 26)', function () {
  this.timeout(60_000);
  let rig: HandsRig;
  let now: number;

  beforeEach(async () => {
    now = Date.now();
    rig = await HandsRig.open((root) => ({ environment: { ...process.env, CLAUDE_CONFIG_DIR: root }, now: () => now }));
    await mkdir(path.join(rig.root, 'sessions'));
  });
  afterEach(async () => {
    await rig.dispose();
  });

  /** The agent writes its live-session file, as at each end of a turn. */
  const idle = async (): Promise<void> => {
    const pid = rig.pid();
    const common = { pid, sessionId: 's', cwd: rig.root, startedAt: now, version: '2.1.332', status: 'idle' };
    await writeFile(path.join(rig.root, 'sessions', `${pid}.json`), JSON.stringify({ ...common, updatedAt: now }));
  };

  for (const [what, change] of [
    ['was replaced', () => rig.program('claude', 'exec sleep 601')],
    ['is gone', () => rm(path.join(rig.root, 'claude'))],
  ] as const) {
    it(`is told when it ${what}, once, and nothing is restarted`, async () => {
      const program = await rig.program('claude', 'exec sleep 600');
      const startedAt = Date.now() + 20;
      now = startedAt;
      const identity = await processIdentity(await rig.running(program));
      now += 5;
      await idle();
      await waitFor('the activity', () => rig.story.agent().activity.kind === 'idle');
      const before = alarmsOf(rig.story.agent());
      await waitFor('a later time on the disk', () => Date.now() > startedAt + 20);
      await change();
      now += 60_000;
      await waitFor('the alarm', async () => {
        now += 1;
        await idle();
        return alarmsOf(rig.story.agent()).length > 0;
      });
      const { sentence = '' } = alarmsOf(rig.story.agent())[0] ?? {};
      deepStrictEqual(
        {
          before,
          told: sentence.includes(what),
          notices: rig.story.state.notices.map(({ code }) => code),
          process: identity && (await isSameProcess(identity)),
          launches: rig.story.agent().launches,
        },
        { before: [], told: true, notices: ['program-changed'], process: 'alive', launches: [] },
      );
    });
  }
});
