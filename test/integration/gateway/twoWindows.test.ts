import { deepStrictEqual } from 'node:assert/strict';
import { appendFile, chmod, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { delay } from '../../../src/base/async.ts';
import { silentLog } from '../../../src/base/log.ts';
import { currentLaunch, knownLaunchIds, liveLaunchIds } from '../../../src/core/fleet/agent.ts';
import { Hands } from '../../../src/node/hands/hands.ts';
import type { HandsFact } from '../../../src/protocol/fleetEvent.ts';
import { claudeBinary } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { bundleWindowProgram, type WindowProcess, type WindowProgram } from '../../harness/windowProcess.ts';

const patience = { timeoutMs: 60_000 };
const version = '2.1.332';

/** Windows in processes of their own share one fleet; the rig's own window only watches. */
describe('two windows', function () {
  this.timeout(180_000);
  let rig: FleetRig;
  let program: WindowProgram;
  let windows: readonly WindowProcess[] = [];
  let count = 0;

  before(async () => {
    program = await bundleWindowProgram();
    rig = await FleetRig.open({ version, trusted: ['work'], hands: 'not offered' });
    await useProgram(await standIn());
    await openWindow();
    await openWindow();
  });

  after(async () => {
    await rig.dispose();
    await program.dispose();
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    const screens = Object.keys(rig.state.agents).map((name) => rig.screen(name).catch(String));
    console.log(JSON.stringify(rig.state, undefined, 1), ...(await Promise.all(screens)));
    for (const { window } of windows) {
      const log = await readFile(path.join(rig.root, `${window}.jsonl`), 'utf8').catch(String);
      console.log(`--- ${window}\n${log.split('\n').slice(-20).join('\n')}`);
    }
  });

  /** A fake claude that only notes each of its starts and, while there is a file `lingers`, takes a while to end. */
  async function standIn(): Promise<string> {
    const file = path.join(rig.root, 'stand-in');
    const note = (word: string): string => `echo "${word} $BOWLINE_LAUNCH" >> '${path.join(rig.root, 'noted')}'`;
    const end = `${note('ends')}; [ -e '${path.join(rig.root, 'lingers')}' ] && sleep 2; exit 0`;
    await writeFile(file, `#!/bin/bash\nend() { ${end}; }\ntrap end HUP\n${note('starts')}\nsleep 600 & wait\n`);
    await chmod(file, 0o755);
    await appendFile(path.join(rig.root, 'noted'), '');
    return file;
  }

  async function noted(word: 'starts' | 'ends'): Promise<readonly string[]> {
    const lines = (await readFile(path.join(rig.root, 'noted'), 'utf8')).split('\n');
    return lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  }

  async function useProgram(claudePath: string): Promise<void> {
    await rig.request({ kind: 'configure', settings: { ...rig.state.settings, claudePath } });
  }

  async function openWindow(): Promise<WindowProcess> {
    const window = rig.startWindow(program, `window-${++count}`);
    windows = [...windows, window];
    await waitFor(`${window.window} to join`, () => joined(window.window, 1), patience);
    return window;
  }

  async function joined(window: string, times: number): Promise<boolean> {
    const log = await readFile(rig.paths.log('gateway'), 'utf8');
    return log.split('"a window joined"').filter((part) => part.includes(`"window":"${window}"`)).length >= times;
  }

  function acting(): Promise<WindowProcess> {
    return waitFor('a window with the hands', () => windows.find(({ window }) => window === rig.handsHolder), patience);
  }

  async function killActing(): Promise<void> {
    const window = await acting();
    process.kill(window.pid, 'SIGKILL');
    await window.ended;
    windows = windows.filter((other) => other !== window);
    // While the other one takes over.
    await openWindow();
  }

  function running(name: string, launchCount: number): Promise<number> {
    return waitFor(
      `launch ${launchCount} of ${name} to run`,
      () => {
        const agent = rig.state.agents[name];
        return agent?.launchCount === launchCount && agent.life.kind === 'running' && agent.life.running.process.pid;
      },
      patience,
    );
  }

  async function panes(): Promise<readonly string[]> {
    const lines = await rig.tmux('list-panes', '-a', '-F', '#{session_name} #{pane_dead} #{pane_pid}');
    return lines.split('\n').filter((line) => line !== '' && !line.startsWith('_bowline'));
  }

  const line = '/mcp reconnect bowline-self';
  const typed = async (): Promise<number> => (await rig.screen('bo')).split(line).length - 1;
  const moments = [0, 10, 20, 40, 80, 160, 320];

  it('start and restart each agent once, at whatever moment the one that acts is killed', async () => {
    for (const [index, moment] of moments.entries()) {
      await acting();
      await rig.create(`a${index}`, 'work');
      await delay(moment);
      await killActing();
      await running(`a${index}`, 1);
    }
    for (const [index, moment] of moments.entries()) {
      await acting();
      await rig.request({ kind: 'restart', name: `a${index}`, mode: 'resume', guard: 'bypass' });
      await delay(moment);
      await killActing();
      await running(`a${index}`, 2);
    }
    const pids = await Promise.all(moments.map((_, index) => running(`a${index}`, 2)));
    const launches = Object.values(rig.state.agents).flatMap(knownLaunchIds);
    deepStrictEqual((await noted('starts')).toSorted(), launches.toSorted());
    deepStrictEqual((await panes()).toSorted(), pids.map((pid, index) => `a${index} 0 ${pid}`).toSorted());
  });

  it('stop each agent, at whatever moment the one that acts is killed', async () => {
    for (const [index, moment] of moments.entries()) {
      await acting();
      await rig.request({ kind: 'stop', name: `a${index}` });
      await delay(moment / 4);
      await killActing();
      await waitFor('the stop', () => rig.state.agents[`a${index}`]?.life.kind === 'stopped', patience);
    }
    deepStrictEqual(await panes(), []);
  });

  it('take the hands from one that hangs; awake again, it does not finish what another has done', async () => {
    await rig.create('ada', 'work');
    await running('ada', 1);
    await writeFile(path.join(rig.root, 'lingers'), '');
    const [first] = knownLaunchIds(rig.agent('ada'));
    // Before that it has no trap, and ends at once.
    await waitFor('the stand-in to be up', async () => (await noted('starts')).includes(first ?? ''), patience);
    const hung = await acting();
    await rig.request({ kind: 'restart', name: 'ada', mode: 'resume', guard: 'bypass' });
    // It waits for the former process to end, and would start the new one then.
    await waitFor('the end to begin', async () => (await noted('ends')).includes(first ?? ''));
    process.kill(hung.pid, 'SIGSTOP');
    await rm(path.join(rig.root, 'lingers'));
    const pid = await running('ada', 2);
    const holder = rig.handsHolder;
    process.kill(hung.pid, 'SIGCONT');
    await waitFor('the hung window to join again', () => joined(hung.window, 2), patience);
    const [second] = liveLaunchIds(rig.agent('ada'));
    deepStrictEqual(
      {
        changed: holder !== hung.window,
        panes: await panes(),
        starts: (await noted('starts')).filter((launch) => launch === second).length,
      },
      { changed: true, panes: [`ada 0 ${pid}`], starts: 1 },
    );
    await rig.request({ kind: 'remove', name: 'ada' });
  });

  it('type a line once, at whatever moment the one that acts is killed', async () => {
    await useProgram(claudeBinary(version));
    await rig.create('bo', 'work');
    await rig.untilBound('bo');
    await rig.turn('bo', 'hello');
    for (const [index, moment] of [0, 30, 60, 120].entries()) {
      await acting();
      await rig.untilInput('bo');
      const session = (): string | undefined => rig.agent('bo').bindings['bowline-self']?.session;
      const before = session();
      await rig.request({ kind: 'reconnect', name: 'bo', server: 'bowline-self' });
      await waitFor('the line', async () => (await typed()) === index + 1, { ...patience, everyMs: 5 });
      await delay(moment);
      await killActing();
      await rig.until('bo', 'reconnected', (row, agent) => {
        return row.worst === 'bound' && session() !== before && Object.keys(agent.incidents).length === 0;
      });
      await rig.untilInput('bo');
      deepStrictEqual(await typed(), index + 1, await rig.screen('bo'));
    }
  });

  it('do not type again what a window typed that was killed before it told so', async () => {
    const { id: launchId } = currentLaunch(rig.agent('bo')) ?? { id: '' };
    const subject = { name: 'bo', launchId, server: 'bowline-self', attemptId: 'told-to-nobody' };
    const task = { ...subject, kind: 'type', id: 'type:told-to-nobody', text: line } as const;
    const before = await typed();
    for (let turn = 0; turn < 2; turn += 1) {
      await rig.untilInput('bo');
      const facts: HandsFact[] = [];
      const hands = new Hands({
        stateDirectory: rig.paths.directory,
        environment: process.env,
        fleet: () => rig.state,
        report: (told) => facts.push(...told),
        log: silentLog,
      });
      try {
        hands.setTasks([task]);
        await waitFor('the report', () => facts.some(({ kind }) => kind === 'rung acted'), patience);
      } finally {
        hands.dispose();
      }
    }
    await rig.untilInput('bo');
    deepStrictEqual(await typed(), before + 1, await rig.screen('bo'));
  });
});
