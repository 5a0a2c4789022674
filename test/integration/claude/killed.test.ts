import { deepStrictEqual, match } from 'node:assert/strict';
import { readFile, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { BindingRecord } from '../../../src/core/binding/bindingRecord.ts';
import { type Agent, currentLaunch } from '../../../src/core/fleet/agent.ts';
import type { Launch } from '../../../src/core/fleet/life.ts';
import { readEndpointFile } from '../../../src/node/endpointFile.ts';
import { claudeBinary } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { type Held, HeldWire } from '../../harness/heldWire.ts';
import { findProcesses } from '../../harness/processes.mjs';
import { waitFor } from '../../harness/waitFor.ts';
import { type StartBehaviour, WrappedClaude } from '../../harness/wrappedClaude.ts';

const version = '2.1.332';

/** A moment of a launch, and how the real claude is held in it. */
interface Moment {
  readonly when: string;
  readonly behaviour?: StartBehaviour;
  readonly hold?: Held;
  /** What the gateway knows of the launch then: SessionStart, initialize, tools/list. */
  readonly known: readonly [started: boolean, initialized: boolean, listed: boolean];
}

const moments: readonly Moment[] = [
  { when: 'right after tmux started it', known: [false, false, false] },
  { when: 'before its SessionStart is told', behaviour: { hooks: 'strip' }, known: [false, true, true] },
  { when: 'between SessionStart and initialize', hold: 'initialize', known: [true, false, false] },
  { when: 'between initialize and tools/list', hold: 'tools/list', known: [true, true, false] },
  { when: 'after tools/list, before the launch is verified', hold: 'standing stream', known: [true, true, true] },
];

describe(`kill -9 of claude ${version} during its launch`, function () {
  this.timeout(180_000);
  let rig: FleetRig;
  let wrapped: WrappedClaude;
  let wire: HeldWire;
  let conversation: string;

  before(async () => {
    rig = await FleetRig.open({ version, trusted: ['shared'] });
    const reading = await readEndpointFile(rig.paths);
    if (reading.kind !== 'ok') throw new Error(`endpoint file ${reading.kind}`);
    wire = await HeldWire.open(reading.endpoint.port);
    wrapped = await WrappedClaude.create(path.join(rig.root, 'wrapper'), claudeBinary(version));
    await rig.request({ kind: 'configure', settings: { ...rig.state.settings, claudePath: wrapped.program } });
    for (const name of ['ada', 'bo']) await rig.create(name, 'shared');
    for (const name of ['ada', 'bo']) await rig.untilBound(name);
    await rig.turn('ada', 'remember SEVENTEEN');
    conversation = rig.agent('ada').session?.id ?? '';
    for (const name of ['ada', 'bo']) await rig.request({ kind: 'stop', name });
    for (const name of ['ada', 'bo']) await rig.until(name, 'stopped', ({ life }) => life === 'stopped');
  });

  after(async () => {
    await rig.dispose();
    await wire.dispose();
  });

  /** The process of the launch in its pane, once it is claude itself. */
  async function claudeOf(name: string, launchId: string): Promise<number | undefined> {
    const pid = (await rig.tmux('list-panes', '-t', `=${name}:`, '-F', '#{pane_pid}')).trim();
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    const isClaude = (await readlink(`/proc/${pid}/exe`)) === (await realpath(claudeBinary(version)));
    return environment.includes(`BOWLINE_LAUNCH=${launchId}\0`) && isClaude ? Number(pid) : undefined;
  }

  function knownOf({ life, bindings }: Agent, launchId: string): Moment['known'] {
    const confirmed = life.kind === 'running' || life.kind === 'launching' ? confirmedAt(life) : undefined;
    const record: BindingRecord | undefined = bindings['bowline-self'];
    const own = record?.launchId === launchId ? record : undefined;
    return [confirmed !== undefined, own?.initializedAt !== undefined, own?.toolsListedAt !== undefined];
  }

  const processesOf = (name: string): readonly string[] => {
    const ofThisFleet = new Set(findProcesses(rig.root).map(({ pid }) => pid));
    return findProcesses(`BOWLINE_AGENT=${name}`).flatMap(({ pid, command }) => (ofThisFleet.has(pid) ? command : []));
  };

  const cases = [
    { mode: 'fresh', name: 'bo' },
    { mode: 'resume', name: 'ada' },
  ] as const;

  /** Starts the agent, and resolves with the launch and its claude when it is met in this moment. */
  async function meet(name: string, { when, hold, known }: Moment): Promise<{ launch: Launch; pid: number }> {
    await rig.request({ kind: 'start', name });
    const launch = await waitFor('the request', () => currentLaunch(rig.agent(name)));
    const pid = await waitFor('claude', () => claudeOf(name, launch.id), { timeoutMs: 60_000, everyMs: 5 });
    await rig.until(name, `met ${when}`, (_row, agent) => {
      const isHeld = hold === undefined || wire.held.has(launch.id);
      return isHeld && knownOf(agent, launch.id).join() === known.join();
    });
    return { launch, pid };
  }

  for (const moment of moments) {
    it(`${moment.when}: it is said to be killed, once, and nothing of it is left`, async () => {
      const address = { sed: `s|127.0.0.1:[0-9]*|127.0.0.1:${wire.port}|` };
      for (const { name, mode } of cases) await wrapped.behave(name, mode, { ...moment.behaviour, mcp: address });
      wire.hold = moment.hold;
      const seen = await Promise.all(
        cases.map(async ({ name }) => {
          const { launch, pid } = await meet(name, moment);
          process.kill(pid, 'SIGKILL');
          await rig.until(name, 'dead', (row) => row.life === 'dead');
          const { launches, activity } = rig.agent(name);
          const own = launches.filter((one) => one.launch.id === launch.id);
          const detail = rig.row(name).detail.replace(/signal \S+\./, 'signal KILL.');
          return [launch.mode, own.map(({ reason }) => reason), detail, activity.kind, processesOf(name)];
        }),
      );
      const detail = 'crashed: ended with signal KILL. Resume starts it again, with its conversation.';
      deepStrictEqual(
        [seen, rig.agent('ada').session?.id],
        [cases.map(({ mode }) => [mode, ['killed'], detail, 'unknown', []]), conversation],
      );
    });
  }

  it('and after all that Resume starts it again, with its exact conversation', async () => {
    wire.hold = undefined;
    for (const { name, mode } of cases) await wrapped.behave(name, mode, {});
    for (const { name } of cases) await rig.request({ kind: 'start', name });
    for (const { name } of cases) await rig.untilBound(name, moments.length + 2);
    await rig.turn('ada', 'hello');
    const { session, launches } = rig.agent('ada');
    match(await readFile(session?.transcriptPath ?? '', 'utf8'), /remember SEVENTEEN[^]*hello/);
    deepStrictEqual(
      [session?.id, launches.map(({ reason }) => reason)],
      [conversation, ['released', ...moments.map(() => 'killed')]],
    );
  });
});

function confirmedAt(life: Extract<Agent['life'], { kind: 'running' | 'launching' }>): number | undefined {
  return life.kind === 'running' ? life.running.confirmedAt : life.confirmedAt;
}
