import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Emitter } from '../../../src/base/events.ts';
import type { FleetSettings } from '../../../src/core/fleet/configuration.ts';
import { type CreateHands, ownHandsTimes } from '../../../src/gateway/ownHands.ts';
import type { HandsStatus } from '../../../src/node/hands/hands.ts';
import type { HandsFact } from '../../../src/protocol/fleetEvent.ts';
import { GatewayParts } from '../../harness/gatewayParts.ts';
import { FakeTimers } from '../../harness/gatewayTimers.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { waitFor } from '../../harness/waitFor.ts';

const { afterStart, afterWindow } = ownHandsTimes;
const settings: FleetSettings = { claudePath: 'claude', environment: {}, healing: 'auto' };

describe("the gateway's own hands", () => {
  let timers: FakeTimers;
  let parts: GatewayParts;
  let windows: WindowStandIn[];
  let now: number;
  /** What the fake hands were told, and who had the hands then. */
  let told: string[];
  let report: (facts: readonly HandsFact[]) => void;

  const create: CreateHands = (reportFacts) => {
    report = reportFacts;
    told.push('created');
    return {
      onStatus: new Emitter<HandsStatus>().event,
      setTasks: (tasks) => told.push(`tasks: ${tasks.map(({ kind, name }) => `${kind} ${name}`).join()}`),
      fleetChanged: () => undefined,
      dispose: () => told.push(`disposed, lease: ${holder()}`),
    };
  };
  const holder = (): string => parts.fleet.state.hands?.holder ?? 'nobody';

  beforeEach(async () => {
    timers = new FakeTimers();
    windows = [];
    told = [];
    now = 1_000_000;
    parts = await GatewayParts.start({
      clock: () => now,
      ownHands: { create, after: timers.after },
    });
  });
  afterEach(async () => {
    for (const window of windows) window.drop();
    await parts.dispose();
  });

  async function joined(name: string, hands: 'offered' | 'not offered' = 'offered'): Promise<WindowStandIn> {
    const window = await WindowStandIn.join(parts, name, hands);
    windows.push(window);
    return window;
  }
  async function leave(window: WindowStandIn): Promise<void> {
    const before = holder();
    window.drop();
    if (before === window.window) await waitFor('the lease to end', () => holder() !== before);
  }
  async function taken(): Promise<void> {
    timers.fire();
    await waitFor('the gateway to have the hands', () => holder() === 'gateway');
  }
  async function createAgent(name: string): Promise<void> {
    const directory = join(parts.paths.directory, `of-${name}`);
    mkdirSync(directory);
    const asker = await joined('asker', 'not offered');
    await asker.ask({ kind: 'create', name, directory });
  }
  const launchOf = (name: string): Promise<string> =>
    waitFor(`the launch of ${name}`, () => {
      const life = parts.fleet.state.agents[name]?.life;
      return life?.kind === 'launching' && life.launch.id;
    });

  it('never act once they are disposed of, whatever windows do: another gateway has taken over', async () => {
    const window = await joined('one');
    await parts.dispose();
    await waitFor('the end of the stream', () => window.closed);
    assert.deepStrictEqual([timers.delays(), told], [[], []]);
  });

  it('wait longer for windows after a start than after a window left', async () => {
    const atStart = timers.delays();
    const window = await joined('one');
    const withWindow = timers.delays();
    now += 5_000;
    await leave(window);
    const soon = timers.delays();
    const again = await joined('one');
    now += 60_000;
    await leave(again);
    assert.deepStrictEqual(
      [atStart, withWindow, soon, timers.delays(), told],
      [[afterStart], [], [afterStart - 5_000], [afterWindow], []],
    );
  });

  it('wait on through windows that do not offer theirs, and take what is to be done', async () => {
    await createAgent('ada');
    await launchOf('ada');
    const before = [holder(), timers.delays()];
    await taken();
    await waitFor('the task', () => told.includes('tasks: launch ada'));
    await createAgent('bo');
    await waitFor('both tasks', () => told.at(-1) === 'tasks: launch ada,launch bo');
    assert.deepStrictEqual([before, holder(), told[0]], [['nobody', [afterStart]], 'gateway', 'created']);
  });

  it('report to the fleet while they are lent, and never after', async () => {
    await createAgent('ada');
    await createAgent('bo');
    const process = { tmuxSession: '$1', pane: '%1', pid: 7 };
    const launched = async (name: string): Promise<HandsFact> => {
      return { at: now, kind: 'launched', name, launchId: await launchOf(name), process };
    };
    const [first, second] = [await launched('ada'), await launched('bo')];
    await taken();
    report([first]);
    await joined('one');
    report([second]);
    const { agents } = parts.fleet.state;
    assert.deepStrictEqual([agents['ada']?.life.kind, agents['bo']?.life.kind], ['running', 'launching']);
  });

  it('stop before a window gets its first task', async () => {
    await createAgent('ada');
    await launchOf('ada');
    await taken();
    const window = await joined('one');
    await waitFor('the task', () => window.tasks.length > 0);
    assert.deepStrictEqual([told.at(-1), holder(), timers.delays()], ['disposed, lease: gateway', 'one', []]);
  });

  it('follow the setting: off ends and prevents them, on brings them back', async () => {
    const window = await joined('person', 'not offered');
    const set = (handsWithoutWindow: 'on' | 'off'): Promise<unknown> =>
      window.ask({ kind: 'configure', settings: { ...settings, handsWithoutWindow } });
    await taken();
    await set('off');
    const off = [holder(), told.at(-1), timers.delays()];
    await leave(await joined('one'));
    const stillOff = timers.delays();
    await set('on');
    await taken();
    assert.deepStrictEqual(
      { off, stillOff, on: [holder(), told.at(-2)] },
      { off: ['nobody', 'disposed, lease: gateway', []], stillOff: [], on: ['gateway', 'created'] },
    );
  });

  it('begin anew with another tmux', async () => {
    const window = await joined('person', 'not offered');
    await taken();
    await window.ask({ kind: 'configure', settings: { ...settings, healing: 'ask' } });
    const same = told.length;
    await window.ask({ kind: 'configure', settings: { ...settings, tmuxPath: '/opt/tmux' } });
    await taken();
    assert.deepStrictEqual([same, told], [2, ['created', 'tasks: ', 'disposed, lease: gateway', 'created', 'tasks: ']]);
  });
});
