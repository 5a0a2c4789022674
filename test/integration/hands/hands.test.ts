import { deepStrictEqual } from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { isSameProcess, processIdentity } from '../../../src/node/processIdentity.ts';
import { FleetStory } from '../../harness/fleetStory.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { HandsRig, type LaunchTask } from './handsRig.ts';

/** The real hands on a real tmux, with a stand-in for claude that only stays. */
describe('hands', function () {
  this.timeout(60_000);
  let rig: HandsRig;
  let program: string;

  beforeEach(async () => {
    rig = await HandsRig.open();
    program = await rig.program('claude', 'exec sleep 600');
  });

  afterEach(async () => {
    await rig.dispose();
  });

  it('leaves no tmux session of an agent that ended by itself and was removed', async () => {
    process.kill(await rig.running(program));
    await rig.until('dead');
    rig.story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'remove' });
    rig.hands.setTasks([{ kind: 'end', id: 'end:ada.1', name: 'ada', launchId: 'ada.1' }]);
    await waitFor('the removal', () => rig.story.state.agents['ada'] === undefined);
    deepStrictEqual(await rig.tmux('list-sessions', '-F', '#{session_name}'), '_bowline');
  });

  it('leaves a launch alone in whose middle the gateway went away, and finds it when it is given again', async () => {
    const starts = path.join(rig.root, 'starts');
    const noted = async (): Promise<number[]> => (await readFile(starts, 'utf8')).trim().split('\n').map(Number);
    const noting = await rig.program('noting', `echo $$ >> '${starts}'`, 'exec sleep 600');
    const first = await rig.running(noting);
    // tmux starts the program at once and answers only then.
    await rig.tmux('set-hook', '-g', 'after-new-session', "run-shell 'sleep 1'");
    rig.launch(noting, { name: 'bo' });
    await waitFor('the start', async () => (await noted()).length === 2, { timeoutMs: 60_000 });
    rig.hands.interrupt();
    // An update took the program meanwhile: what runs is found all the same.
    await rm(noting);
    rig.giveAgain();
    await rig.until('running', 'bo');
    deepStrictEqual(await noted(), [first, rig.pid('bo')]);
  });

  it('never ends a process that it has no record of: a launch is refused with the way on, a removal leaves it', async () => {
    const pid = await rig.running(program);
    const identity = await processIdentity(pid);
    // Both state files are lost, and the agent is created anew.
    rig.story = new FleetStory();
    rig.launch(program, { launchId: 'ada.9' });
    const tmux = `tmux -S ROOT/state/fleet.sock`;
    deepStrictEqual(
      await rig.until('blocked'),
      `blocked: launch refused: A process that Bowline has no record of (${pid}) runs in the tmux session ada; it was not touched. ` +
        `See it: ${tmux} attach -t ada. End it there, or so: ${tmux} kill-session -t ada. Then use Resume.`,
    );
    rig.story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'remove' });
    rig.hands.setTasks([{ kind: 'end', id: 'end:ada.9', name: 'ada', launchId: 'ada.9' }]);
    await waitFor('the removal', () => rig.story.state.agents['ada'] === undefined);
    deepStrictEqual(identity && (await isSameProcess(identity)), 'alive');
    await rig.tmux('kill-session', '-t', 'ada');
    await rig.running(program, { launchId: 'ada.10' });
  });

  it('ends what is left of a launch that was replaced before anybody told of its process, and nothing else', async () => {
    const starts = path.join(rig.root, 'starts');
    const noting = await rig.program('noting', `echo $$ >> '${starts}'`, 'exec sleep 600');
    const noted = async (): Promise<number[]> =>
      (await readFile(starts, 'utf8').catch(() => '')).trim().split('\n').map(Number);
    const bo = await processIdentity(await rig.running(program, { name: 'bo' }));
    await rig.tmux('set-hook', '-g', 'after-new-session', "run-shell 'sleep 1'");
    rig.launch(noting);
    await waitFor('the start', async () => ((await noted())[0] ?? 0) > 0, { timeoutMs: 60_000 });
    const left = await processIdentity((await noted())[0] ?? 0);
    rig.hands.interrupt();
    rig.story.request('ada', { id: 'ada.2' });
    const sentence = 'it cannot start';
    rig.story.tell({ kind: 'launch failed', name: 'ada', launchId: 'ada.2', code: 'launch-refused', sentence });
    // An end that was only seen, wrongly.
    const exit = { how: 'host gone', reading: 'other', detail: 'the tmux server ended' } as const;
    rig.story.tell({ kind: 'process ended', name: 'bo', launchId: 'bo.1', exit });
    rig.hands.fleetChanged();
    await waitFor('the end', async () => left && (await isSameProcess(left)) === 'gone', { timeoutMs: 60_000 });
    await waitFor('its session to go', async () => !(await rig.tmux('list-sessions')).includes('ada:'));
    deepStrictEqual([bo && (await isSameProcess(bo)), rig.story.agent().life.kind], ['alive', 'blocked']);
  });

  const faults: readonly (readonly [string, Partial<LaunchTask>, RegExp])[] = [
    ['the directory is gone', { directory: '/nowhere/at/all' }, /directory \/nowhere\/at\/all is not there/],
    ['a variable has no valid name', { environment: { 'no name': '1' } }, /"no name" cannot be the name/],
    ['claude is gone', { program: '/nowhere/claude' }, /no program at \/nowhere\/claude/],
  ];
  for (const [fault, changed, sentence] of faults) {
    it(`leaves the running process alone when ${fault} at a restart`, async () => {
      const identity = await processIdentity(await rig.running(program));
      rig.launch(program, changed);
      await waitFor('the failure', () => rig.story.agent().launches.some(({ launch }) => launch.id === 'ada.2'));
      const { life, launches } = rig.story.agent();
      const detail = launches.at(-1)?.detail ?? '';
      deepStrictEqual(
        [life.kind, identity && (await isSameProcess(identity)), sentence.test(detail) || detail],
        ['running', 'alive', true],
      );
    });
  }
});
