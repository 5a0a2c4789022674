import { deepStrictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { silentLog } from '../../../src/base/log.ts';
import { Hands } from '../../../src/node/hands/hands.ts';
import { isSameProcess, processIdentity } from '../../../src/node/processIdentity.ts';
import type { HandsTask } from '../../../src/protocol/stream.ts';
import { FleetStory } from '../../harness/fleetStory.ts';
import { endProcesses } from '../../harness/processes.mjs';
import { waitFor } from '../../harness/waitFor.ts';

const run = promisify(execFile);

type LaunchTask = Extract<HandsTask, { kind: 'launch' }>;

/** The real hands on a real tmux, with a stand-in for claude that only stays. */
describe('hands', function () {
  this.timeout(30_000);
  let root: string;
  let story: FleetStory;
  let hands: Hands;
  let task: LaunchTask;

  beforeEach(async () => {
    root = await realpath(await mkdtemp(path.join(tmpdir(), 'bowline-hands-')));
    await mkdir(path.join(root, 'state'), { mode: 0o700 });
    await mkdir(path.join(root, 'work'));
    const program = path.join(root, 'claude');
    await writeFile(program, '#!/bin/sh\nexec sleep 600\n');
    await chmod(program, 0o755);
    story = new FleetStory().create().request();
    hands = new Hands({
      stateDirectory: path.join(root, 'state'),
      environment: process.env,
      fleet: () => story.state,
      report: (facts) => {
        for (const fact of facts) story.tell(fact, fact.at);
        hands.fleetChanged();
      },
      log: silentLog,
    });
    const directory = path.join(root, 'work');
    const launch = { launchId: 'ada.1', directory, program, arguments: ['--stand-in'], environment: {} };
    task = { kind: 'launch', id: 'launch:ada.1', name: 'ada', ...launch };
  });

  afterEach(async () => {
    hands.dispose();
    await endProcesses(root);
    await rm(root, { recursive: true, force: true });
  });

  const life = (): string => story.agent().life.kind;

  const pidOf = async (changed: Partial<LaunchTask> = {}): Promise<number> => {
    hands.setTasks([{ ...task, ...changed }]);
    await waitFor('the launch', () => life() === 'running');
    const { life: now } = story.agent();
    return now.kind === 'running' ? now.running.process.pid : 0;
  };

  it('leaves no tmux session of an agent that ended by itself and was removed', async () => {
    process.kill(await pidOf());
    await waitFor('the end', () => life() === 'dead');
    story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'remove' });
    hands.setTasks([{ kind: 'end', id: 'end:ada.1', name: 'ada', launchId: 'ada.1' }]);
    await waitFor('the removal', () => story.state.agents['ada'] === undefined);
    const socket = path.join(root, 'state', 'fleet.sock');
    const { stdout } = await run('tmux', ['-S', socket, 'list-sessions', '-F', '#{session_name}']);
    deepStrictEqual(stdout, '_bowline\n');
  });

  it('never ends a process that it has no record of: a launch is refused with the way on, a removal leaves it', async () => {
    const pid = await pidOf();
    const identity = await processIdentity(pid);
    // Both state files are lost, and the agent is created anew.
    story = new FleetStory().create().request('ada', { id: 'ada.9' });
    hands.setTasks([{ ...task, id: 'launch:ada.9', launchId: 'ada.9' }]);
    await waitFor('the refusal', () => life() === 'blocked');
    const { life: blocked } = story.agent();
    const tmux = `tmux -S ${path.join(root, 'state', 'fleet.sock')}`;
    deepStrictEqual(blocked.kind === 'blocked' && [blocked.reason, blocked.detail], [
      'launch refused',
      `A process that Bowline has no record of (${pid}) runs in the tmux session ada; it was not touched. ` +
        `See it: ${tmux} attach -t ada. End it there, or so: ${tmux} kill-session -t ada. Then use Resume.`,
    ]);
    story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'remove' });
    hands.setTasks([{ kind: 'end', id: 'end:ada.9', name: 'ada', launchId: 'ada.9' }]);
    await waitFor('the removal', () => story.state.agents['ada'] === undefined);
    deepStrictEqual(identity && (await isSameProcess(identity)), 'alive');
    story.create().request('ada', { id: 'ada.10' });
    await run('/bin/sh', ['-c', `${tmux} kill-session -t ada`]);
    hands.setTasks([{ ...task, id: 'launch:ada.10', launchId: 'ada.10' }]);
    await waitFor('the launch', () => life() === 'running');
  });

  const faults: readonly (readonly [string, Partial<LaunchTask>, RegExp])[] = [
    ['the directory is gone', { directory: '/nowhere/at/all' }, /directory \/nowhere\/at\/all does not exist/],
    ['a variable has no valid name', { environment: { 'no name': '1' } }, /"no name" cannot be the name/],
    ['claude is gone', { program: '/nowhere/claude' }, /no program at \/nowhere\/claude/],
  ];
  for (const [fault, changed, sentence] of faults) {
    it(`leaves the running process alone when ${fault} at a restart`, async () => {
      const identity = await processIdentity(await pidOf());
      story.request('ada', { id: 'ada.2' });
      hands.setTasks([{ ...task, id: 'launch:ada.2', launchId: 'ada.2', ...changed }]);
      await waitFor('the failure', () => story.agent().launches.some(({ launch }) => launch.id === 'ada.2'));
      const detail = story.agent().launches.at(-1)?.detail ?? '';
      deepStrictEqual(
        [life(), identity && (await isSameProcess(identity)), sentence.test(detail) || detail],
        ['running', 'alive', true],
      );
    });
  }
});
