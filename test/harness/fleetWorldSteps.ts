import type { TurnError } from '../../src/core/fleet/poison.ts';
import { guardTimes } from '../../src/core/guard/verdict.ts';
import type { FleetWorld } from './fleetWorld.ts';
import { actOnce, answered } from './fleetWorldHands.ts';
import { personSteps } from './fleetWorldPerson.ts';
import {
  aliveOf,
  Choice,
  client,
  connect,
  endpointOf,
  exits,
  hook,
  names,
  runningOf,
  saveContext,
  serverOf,
  speak,
} from './fleetWorldProcesses.ts';

/** One more than the biggest number that `takeStep` tells apart. */
export const stepsBelow = 2 ** 31 - 1;

type Step = (world: FleetWorld, choice: Choice) => void;

/** Takes the step that a number stands for. One that does not fit the world does nothing, as a late key press does. */
export function takeStep(world: FleetWorld, value: number): void {
  const choice = new Choice(value);
  world.now += 1;
  choice.of(steps)(world, choice);
  world.checkProcesses();
}

const hands: readonly Step[] = [
  (world, choice) => {
    const holder = choice.of(['window-1', 'window-2', 'nobody']);
    world.tell({ kind: 'hands changed', ...(holder !== 'nobody' && { holder }) });
  },
  (world, choice) => {
    const running = runningOf(world, choice.of(names));
    const dialog = choice.of(['trust', 'mcp-approval', 'permission', 'none', 'none', 'none']);
    if (running === undefined) return;
    world.tell({
      kind: 'screen read',
      name: running.name,
      launchId: running.launchId,
      ...(dialog !== 'none' && { dialog }),
    });
  },
  (world, choice) => {
    const running = runningOf(world, choice.of(names));
    const activity = choice.of(['idle', 'idle', 'busy', 'waiting for permission', 'waiting for input']);
    if (running?.told !== true) return;
    world.tell({ kind: 'activity observed', name: running.name, launchId: running.launchId, activity });
  },
];

const processes: readonly Step[] = [
  (world, choice) => {
    const process = aliveOf(world, choice.of(names));
    if (process === undefined || choice.below(2) === 0) return;
    const source = choice.of(['clear', 'startup', 'resume', 'compact', 'fork']);
    if (source === 'clear' || source === 'fork') process.session = `session-${source}-${world.now}`;
    const sessionId = source === 'startup' || source === 'resume' ? `session-other-${world.now}` : process.session;
    const transcriptExists = choice.below(2) === 0;
    hook(world, process.name, { event: 'SessionStart', source, sessionId, transcriptExists });
  },
  (world, choice) => {
    hook(world, choice.of(names), { event: 'Notification', waitingFor: choice.of(['permission', 'input']) });
  },
  (world, choice) => {
    hook(world, choice.of(names), { event: 'SessionEnd', source: 'other' });
  },
  (world, choice) => {
    const process = aliveOf(world, choice.of(names));
    if (process === undefined || choice.below(2) === 0) return;
    process.alive = false;
    process.exit = choice.of(exits);
    world.note(`the process of ${process.launchId} ends: ${process.exit.detail}`);
    if (choice.below(2) === 0) world.observe();
  },
  (world, choice) => {
    if (choice.below(6) > 0) return;
    for (const process of world.processes) process.alive = false;
    world.processes = [];
    world.note('the tmux server ends');
    const exit = { how: 'host gone', reading: 'other', detail: 'the tmux server ended' } as const;
    for (const { name, life } of Object.values(world.state.agents)) {
      if (life.kind === 'running') world.tell({ kind: 'process ended', name, launchId: life.running.launch.id, exit });
    }
  },
  (world, choice) => {
    saveContext(world, choice.of(names));
  },
  (world, choice) => {
    workBeyondSave(world, choice.of(names));
  },
  (world, choice) => {
    transcriptSeen(world, choice);
  },
  (world, choice) => {
    const running = runningOf(world, choice.of(names));
    if (running === undefined) return;
    const { name, launchId } = running;
    const step = choice.below(5);
    const process = { pid: 4713, startTime: 'then' };
    if (step === 3) world.tell({ kind: 'launch doubled', name, launchId, process });
    if (step === 4) world.tell({ kind: 'launch doubled', name, launchId });
    if (step === 0) world.tell({ kind: 'conversation shared', name, launchId, pid: 4712 });
    if (step === 1) world.tell({ kind: 'conversation shared', name, launchId });
    if (step === 2) world.tell({ kind: 'program changed', name, launchId, what: choice.of(['replaced', 'gone']) });
  },
];

const clients: readonly Step[] = [
  (world, choice) => {
    connect(world, choice.of(names), choice);
  },
  (world, choice) => {
    const process = aliveOf(world, choice.of(names));
    if (process === undefined) return;
    process.connected = false;
    world.tell({ ...endpointOf(process, choice), kind: 'mcp stream closed', session: 'digest' });
  },
  (world, choice) => {
    const process = aliveOf(world, choice.of(names));
    if (process?.connected !== true) return;
    world.tell({ ...endpointOf(process, choice), kind: 'mcp stream opened', session: 'digest' });
  },
  (world, choice) => {
    const process = aliveOf(world, choice.of(names));
    if (process?.connected !== true) return;
    const told = choice.of([{ kind: 'upstream failed', detail: 'no answer' }, { kind: 'upstream answered' }] as const);
    world.tell({ ...endpointOf(process, choice), ...told });
  },
  (world, choice) => {
    const process = aliveOf(world, choice.of(names));
    if (process === undefined || choice.below(3) > 0) return;
    const cause = choice.of(['name literal variable', 'key wrong', 'launch stale', 'name blank']);
    const server = serverOf(process, choice);
    world.tell({ kind: 'identity fault', name: process.name, server, cause, detail: `fault: ${cause}` });
  },
];

const times: readonly Step[] = [
  (world, choice) => {
    world.wait(choice.of([10, 1_000, 5_000, 20_000]));
  },
  (world, choice) => {
    world.wait(choice.of([60_000, 120_000, 600_000, 1_900_000]));
  },
  (world) => {
    world.wait(Math.max(1, (world.wakeAt ?? world.now) - world.now));
  },
  (world) => {
    world.wait(Math.max(1, (world.wakeAt ?? world.now) - world.now));
  },
];

const gateway: readonly Step[] = [
  (world, choice) => {
    const previousSeenAt = world.now;
    world.now += choice.of([1, 500, 20_000, 60_000]);
    const port = choice.of(['kept open', 'was closed']);
    const isNewPort = port === 'was closed' && choice.below(3) === 0;
    const epoch = { id: `epoch-${world.now}`, startedAt: world.now, previousSeenAt, port } as const;
    for (const process of world.processes) process.connected &&= port === 'kept open';
    world.tell({ kind: 'epoch started', epoch: { ...epoch, ...(isNewPort && { portSince: world.now }) } });
  },
  (world, choice) => {
    hostSlept(world, choice.of([20_000, 1_200_000, 30_000_000]));
  },
  setClockBack,
  (world, choice) => {
    again(world, choice);
  },
  (world, choice) => {
    again(world, choice);
  },
  (world, choice) => {
    junk(world, choice);
  },
];

/** Steps without which nothing goes on are drawn more often than what comes between. */
const steps: readonly [Step, ...Step[]] = [
  observe,
  ...times,
  ...personSteps,
  ...hands,
  ...processes,
  ...clients,
  ...gateway,
  ...Array.from({ length: 8 }, () => [actOnce, work]).flat(),
  ...Array.from({ length: 3 }, () => [prompted, turnEnded, answered]).flat(),
];

function work(world: FleetWorld, choice: Choice): void {
  speak(world, choice.of(names));
}

function prompted(world: FleetWorld, choice: Choice): void {
  const name = choice.of(names);
  if (choice.below(8) > 0) hook(world, name, { event: 'UserPromptSubmit' });
  else hook(world, name, { event: 'UserPromptSubmit', transcriptExists: false, transcriptPath: '/home/of/transcript' });
}

function turnEnded(world: FleetWorld, choice: Choice): void {
  const name = choice.of(names);
  const event = choice.of(['Stop', 'Stop', 'Stop', 'StopFailure']);
  const error = choice.of(['other', 'poisoned: image', 'poisoned: image', 'poisoned: thinking blocks']);
  hook(world, name, { event, error });
  if (event === 'Stop' || choice.below(2) > 0) return;
  // It fails at once when it is tried again.
  world.now += 1;
  hook(world, name, { event: 'UserPromptSubmit' });
  hook(world, name, { event, error });
}

/** A turn so long after the save that the save is too old for a fresh start. */
function workBeyondSave(world: FleetWorld, name: string): void {
  saveContext(world, name);
  world.wait(guardTimes.saveTrailsAtMost);
  hook(world, name, { event: 'UserPromptSubmit' });
  world.now += 1;
  hook(world, name, { event: 'Stop' });
}

/** The end of a transcript is read, or it is looked for. */
function transcriptSeen(world: FleetWorld, choice: Choice): void {
  const agent = world.agent(choice.of(names));
  const sessionId = agent?.session?.id;
  if (agent === undefined || sessionId === undefined) return;
  const kind = 'poisoned: image';
  const errors = choice.of<readonly TurnError[]>([
    [],
    [{ kind, at: world.now }],
    [
      { kind, at: world.now - 1 },
      { kind, at: world.now },
    ],
  ]);
  world.tell({ kind: 'transcript seen', name: agent.name, sessionId, file: 'there', errors });
}

/** Nothing happens meanwhile, and what was connected may have lost its stream. */
function hostSlept(world: FleetWorld, milliseconds: number): void {
  world.now += milliseconds;
  world.tell({ kind: 'host resumed' });
}

function setClockBack(world: FleetWorld, choice: Choice): void {
  if (choice.below(3) > 0) return;
  world.setClockBack(choice.of([1_000, 600_000]));
  world.tell({ kind: 'host resumed' });
}

function observe(world: FleetWorld): void {
  world.observe();
}

/** Reports may come twice, late, and in any order; the gateway takes none for later than now (`SpoolDrain`). */
function again(world: FleetWorld, choice: Choice): void {
  const recent = world.reports.slice(-12).filter(({ kind }) => isReport(kind));
  const event = recent[choice.below(12)];
  if (event !== undefined) world.tell(event, Math.min(event.at, world.now));
}

function isReport(kind: string): boolean {
  return /^(launched|process ended|hook reported|mcp |probe |prompt (taken|typed)|rung (acted|ended)|screen)/.test(
    kind,
  );
}

/** Facts about launches, agents, prompts and attempts that are not or never were. */
function junk(world: FleetWorld, choice: Choice): void {
  const name = choice.of(['ada', 'bo', 'nobody', '__proto__', 'constructor']);
  const former = world.agent(name)?.launches.at(-1)?.launch.id;
  const launchId = choice.below(2) === 0 && former !== undefined ? former : 'no.1.launch';
  const subject = { name, server: choice.of(['bowline-self', 'no-server']), launchId };
  const ids = { attemptId: 'no-attempt', promptId: 'no-prompt' };
  const of = { ...subject, ...ids };
  const step = choice.below(12);
  const exit = choice.of(exits);
  if (step === 0) world.tell({ kind: 'process ended', name, launchId, exit });
  if (step === 1) world.tell({ kind: 'launched', name, launchId, process: { tmuxSession: '$7', pane: '%7', pid: 7 } });
  if (step === 2) world.tell({ kind: 'launch failed', name, launchId, code: 'tmux-failed', sentence: 'no' });
  if (step === 3) world.tell({ ...of, kind: 'mcp initialized', session: 'digest', client });
  if (step === 4) world.tell({ ...of, kind: 'probe answered', sentAt: world.now, roundTripMs: 1 });
  if (step === 5) world.tell({ ...of, kind: 'rung ended', outcome: 'failed', detail: 'late' });
  if (step === 6) world.tell({ kind: 'prompt typed', name, launchId, promptId: 'no-prompt' });
  if (step === 7) world.tell({ kind: 'launch verified', name, launchId });
  if (step === 8) world.tell({ kind: 'doubted', name, server: 'bowline-self', cause: 'asked' });
  if (step === 9) world.tell({ kind: 'incident closed', name, server: 'no-server', outcome: 'bound' });
  // Of one that has run the gateway clears the pane first, by a stop.
  if (step === 10 && former === undefined) world.tell({ kind: 'agent removed', name });
  if (step === 11) {
    const fact = { event: 'UserPromptSubmit', sessionId: 'session-late', transcriptExists: true } as const;
    world.tell({ kind: 'hook reported', name, launchId, hook: fact });
  }
}
