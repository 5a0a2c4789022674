import { deepStrictEqual } from 'node:assert/strict';
import { processIdentity, isSameProcess } from '../../../src/node/processIdentity.ts';
import { findProcesses } from '../../harness/processes.mjs';
import { waitFor } from '../../harness/waitFor.ts';
import { HandsRig } from './handsRig.ts';

/** The real hands on a real tmux, with a stand-in for claude that only stays. */
describe('a launch that is called off', function () {
  this.timeout(60_000);
  let rig: HandsRig;
  let program: string;

  beforeEach(async () => {
    rig = await HandsRig.open();
    program = await rig.program('claude', 'exec sleep 607');
  });

  afterEach(async () => {
    await rig.dispose();
  });

  /** Stops or removes the agent as the brain plans it, and tells what is left. */
  async function stopped(then: 'keep' | 'remove'): Promise<readonly unknown[]> {
    rig.story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then });
    const ends = rig.story.plan().effects.filter(({ kind }) => kind === 'end');
    rig.hands.setTasks(ends.flatMap((effect) => (effect.kind === 'end' ? { ...effect, kind: 'end' as const } : [])));
    const life = (): string => rig.story.state.agents['ada']?.life.kind ?? 'removed';
    await waitFor('the end', () => ['stopped', 'removed'].includes(life()), { timeoutMs: 60_000 });
    const left = findProcesses(rig.root).filter(({ command }) => command.includes('sleep 607'));
    const launches = rig.story.state.agents['ada']?.launches.map(({ reason }) => reason);
    return [life(), left, await rig.tmux('list-sessions', '-F', '#{session_name}'), launches];
  }

  for (const then of ['keep', 'remove'] as const) {
    const ended = then === 'keep' ? 'stopped' : 'removed';

    it(`leaves no process of a restart whose former process still lives (${then})`, async () => {
      const former = await processIdentity(await rig.running(program));
      // Nobody has begun to work on it.
      rig.story.request('ada', { id: 'ada.2', requestedAt: rig.story.now });
      const seen = await stopped(then);
      const reasons = then === 'keep' ? ['released', 'released'] : undefined;
      deepStrictEqual([seen, former && (await isSameProcess(former))], [[ended, [], '_bowline', reasons], 'gone']);
    });

    it(`leaves no process of a restart that the hands are in the middle of (${then})`, async () => {
      const slow = await rig.program('slow', "trap 'sleep 1; exit' HUP TERM", 'while :; do sleep 0.1; done');
      const former = await processIdentity(await rig.running(slow));
      rig.launch(program);
      const [life, left, sessions] = await stopped(then);
      deepStrictEqual([life, left, sessions, former && (await isSameProcess(former))], [ended, [], '_bowline', 'gone']);
    });
  }
});
