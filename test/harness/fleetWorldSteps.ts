import type { HookFact } from '../../src/core/claude/facts.ts';
import type { Effect } from '../../src/core/fleet/effects.ts';
import type { ProcessExit } from '../../src/core/fleet/events.ts';
import { freshLaunch, resumeOrFresh } from '../../src/core/fleet/launching.ts';
import { lifeOf } from '../../src/core/fleet/lifeOf.ts';
import { type Agent, currentLaunch, enabledServers, liveLaunchIds, runningLaunch } from '../../src/core/fleet/agent.ts';
import type { HealingPolicy } from '../../src/core/fleet/configuration.ts';
import { saveTool } from '../../src/core/guard/saveTool.ts';
import { judgeRestart } from '../../src/core/guard/verdict.ts';
import { type Brain, FleetWorld, isUnderWay, type SimulatedProcess, type Temper } from './fleetWorld.ts';

/** Draws small numbers out of one big one, so that a whole step is one number that shrinks. */
class Choice {
  constructor(private rest: number) {}

  below(limit: number): number {
    const drawn = this.rest % limit;
    this.rest = Math.floor(this.rest / limit);
    return drawn;
  }

  of<const T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }
}

/** One more than the biggest number that `takeStep` tells apart. */
export const stepsBelow = 2 ** 31 - 1;

const names = ['ada', 'bo'] as const;
const policies: readonly [HealingPolicy, ...HealingPolicy[]] = [
  'auto',
  'auto',
  'auto to resume',
  'auto to reconnect',
  'ask',
  'off',
];
const client = { name: 'claude-code', version: '2.1.332', protocolVersion: '2025-11-25' };
const olderClient = { ...client, version: '2.1.160' };

const exits: readonly [ProcessExit, ...ProcessExit[]] = [
  { how: 'exited', status: 1, reading: 'other', detail: 'ended with status 1' },
  { how: 'exited', status: 0, reading: 'other', detail: 'ended' },
  { how: 'exited', status: 1, reading: 'conversation not found', detail: 'No conversation found' },
  { how: 'exited', status: 1, reading: 'login needed', detail: 'Please run /login' },
  { how: 'exited', status: 127, reading: 'binary missing', detail: 'not found' },
  { how: 'exited', status: 1, reading: 'configuration error', detail: 'Invalid MCP configuration' },
  { how: 'gone', reading: 'other', detail: 'its tmux pane was closed' },
];

type Step = (world: FleetWorld, choice: Choice) => void;

/** Takes the step that a number stands for. One that does not fit the world does nothing, as a late key press does. */
export function takeStep(world: FleetWorld, value: number): void {
  const choice = new Choice(value);
  world.now += 1;
  choice.of(steps)(world, choice);
  checkProcesses(world);
}

function checkProcesses(world: FleetWorld): void {
  for (const name of names) {
    const alive = world.processes.filter((process) => process.name === name && process.alive);
    if (alive.length > 1) world.broken(`two processes for ${name}`);
  }
}

const person: readonly Step[] = [
  (world, choice) => {
    create(world, choice.of(names));
  },
  (world, choice) => {
    start(world, choice.of(names));
  },
  (world, choice) => {
    const agent = world.agent(choice.of(names));
    if (agent === undefined || currentLaunch(agent) === undefined) return;
    const then = agent.life.kind === 'stopping' ? agent.life.then : 'keep';
    world.tell({ kind: 'stop requested', name: agent.name, reason: choice.of(['released', 'shutdown']), then });
  },
  (world, choice) => {
    const agent = world.agent(choice.of(names));
    if (agent === undefined || choice.below(3) > 0) return;
    const { name } = agent;
    if (currentLaunch(agent) === undefined && agent.launches.length === 0) world.tell({ kind: 'agent removed', name });
    else world.tell({ kind: 'stop requested', name, reason: 'released', then: 'remove' });
  },
  (world, choice) => {
    restart(world, choice.of(names), choice.of(['resume', 'fresh', 'bypass']));
  },
  (world, choice) => {
    const agent = world.agent(choice.of(names));
    if (agent === undefined || runningLaunch(agent) === undefined) return;
    const server = enabledServers(agent)[0] ?? '';
    const incident = agent.incidents[server];
    if (incident !== undefined && isUnderWay(incident)) return;
    const attemptId = `${agent.name}-by-person-${world.now}`;
    world.tell({ kind: 'rung started', name: agent.name, server, attemptId, rung: 'reconnect', by: 'person' });
  },
  (world, choice) => {
    const healing = choice.of(policies);
    world.tell({ kind: 'settings changed', settings: { ...world.state.settings, healing } });
  },
  (world, choice) => {
    const name = choice.of(names);
    if (world.agent(name)?.life.kind !== 'running') return;
    const id = `prompt-${world.now}`;
    const prompt = { id, requestedAt: world.now, by: 'window', digest: `digest-${id}`, characters: 4 };
    world.tell({ kind: 'prompt requested', name, prompt });
    if (choice.below(3) === 0)
      world.tell({ kind: 'save restart requested', name, request: { promptId: id, mode: 'fresh' } });
  },
  (world, choice) => {
    const agent = world.agent(choice.of(names));
    const promptId = agent?.prompts?.at(-1)?.id;
    if (agent === undefined || promptId === undefined) return;
    world.tell({ kind: 'prompt ended', name: agent.name, promptId, outcome: 'failed', detail: 'called off' });
  },
];

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
    if (process === undefined || choice.below(3) > 0) return;
    const cause = choice.of(['name literal variable', 'key wrong', 'launch stale', 'name blank']);
    const server = serverOf(process.name, choice);
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
  (world) => {
    world.tell({ kind: 'host resumed' });
  },
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
  ...person,
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
  hook(world, choice.of(names), { event: 'UserPromptSubmit' });
}

function turnEnded(world: FleetWorld, choice: Choice): void {
  const event = choice.of(['Stop', 'Stop', 'Stop', 'StopFailure']);
  hook(world, choice.of(names), { event, error: 'invalid_request' });
}

function observe(world: FleetWorld): void {
  world.observe();
}

/** What a story begins with: two agents that are being started, or that run, are bound and have worked. */
export type Opening = 'starting' | 'working';

export function openingOf(brain: Brain, opening: Opening): FleetWorld {
  const world = new FleetWorld(brain);
  for (const name of names) create(world, name);
  if (opening === 'starting') return world;
  goOn(world, tempers[0]);
  for (const name of names) {
    for (const event of ['UserPromptSubmit', 'Stop'] as const) {
      world.now += 1;
      hook(world, name, { event });
    }
    saveContext(world, name);
  }
  return world;
}

function create(world: FleetWorld, name: string): void {
  if (world.agent(name) !== undefined) return;
  const configuration = { directory: '/work', extraArguments: [], environment: {}, servers: serversOf(name) };
  world.tell({ kind: 'agent created', name, configuration });
  start(world, name);
}

function saveContext(world: FleetWorld, name: string): void {
  const process = aliveOf(world, name);
  if (process === undefined) return;
  const context = { at: world.now, sessionId: process.session, launchId: process.launchId, bytes: 9 };
  world.tell({ kind: 'context saved', name, context: { ...context, origin: 'explicit' } });
}

function start(world: FleetWorld, name: string): void {
  const agent = world.agent(name);
  if (agent?.life.kind !== 'stopped' && agent?.life.kind !== 'blocked' && agent?.life.kind !== 'dead') return;
  world.tell({ kind: 'launch requested', name, launch: { ...resumeOrFresh(agent, world.now), cause: 'person' } });
}

function restart(world: FleetWorld, name: string, how: 'resume' | 'fresh' | 'bypass'): void {
  const agent = world.agent(name);
  if (agent === undefined || agent.life.kind === 'stopping') return;
  const mode = how === 'resume' ? 'resume' : 'fresh';
  const [self] = world.healths(agent);
  const verdict = judgeRestart(agent, mode, saveTool(self?.state), world.now);
  if (!verdict.allowed && how !== 'bypass') return;
  const launch = mode === 'fresh' ? freshLaunch(agent, world.now) : resumeOrFresh(agent, world.now);
  if (mode === 'fresh') world.allowFresh({ ...launch, cause: 'person' });
  world.tell({ kind: 'launch requested', name, launch: { ...launch, cause: 'person' } });
}

/** Reports may come twice, late, and in any order. */
function again(world: FleetWorld, choice: Choice): void {
  const recent = world.reports.slice(-12).filter(({ kind }) => isReport(kind));
  const event = recent[choice.below(12)];
  if (event !== undefined) world.tell(event, event.at);
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
  const ids = { attemptId: 'no-attempt', promptId: 'no-prompt', probeId: 'no-probe' };
  const of = { ...subject, ...ids };
  const step = choice.below(12);
  const exit = choice.of(exits);
  if (step === 0) world.tell({ kind: 'process ended', name, launchId, exit });
  if (step === 1) world.tell({ kind: 'launched', name, launchId, process: { tmuxSession: '$7', pane: '%7', pid: 7 } });
  if (step === 2) world.tell({ kind: 'launch failed', name, launchId, code: 'tmux-failed', sentence: 'no' });
  if (step === 3) world.tell({ ...of, kind: 'mcp initialized', session: 'digest', client });
  if (step === 4) world.tell({ ...of, kind: 'probe answered', roundTripMs: 1 });
  if (step === 5) world.tell({ ...of, kind: 'rung ended', outcome: 'failed', detail: 'late' });
  if (step === 6) world.tell({ kind: 'prompt typed', name, launchId, promptId: 'no-prompt' });
  if (step === 7) world.tell({ kind: 'launch verified', name, launchId });
  if (step === 8) world.tell({ kind: 'doubted', name, server: 'bowline-self', cause: 'asked' });
  if (step === 9) world.tell({ kind: 'incident closed', name, server: 'no-server', outcome: 'bound' });
  if (step === 10) world.tell({ kind: 'agent removed', name });
  if (step === 11) {
    const fact = { event: 'UserPromptSubmit', sessionId: 'session-late', transcriptExists: true } as const;
    world.tell({ kind: 'hook reported', name, launchId, hook: fact });
  }
}

/** `bo` has two endpoints. */
function serversOf(name: string): Readonly<Record<string, 'on'>> {
  return name === 'bo' ? { 'bowline-self': 'on', 'bowline-memory': 'on' } : { 'bowline-self': 'on' };
}

function serverOf(name: string, choice: Choice): string {
  const servers = Object.keys(serversOf(name));
  return servers[choice.below(servers.length)] ?? '';
}

function aliveOf(world: FleetWorld, name: string): SimulatedProcess | undefined {
  return world.processes.find((process) => process.name === name && process.alive);
}

/** The process of the running launch, where it lives. */
function runningOf(world: FleetWorld, name: string): SimulatedProcess | undefined {
  const agent = world.agent(name);
  const launch = agent === undefined ? undefined : runningLaunch(agent);
  const process = launch === undefined ? undefined : world.processOf(launch.launch.id);
  return process?.alive === true ? process : undefined;
}

function hook(world: FleetWorld, name: string, fact: Partial<HookFact> & Pick<HookFact, 'event'>): void {
  const process = aliveOf(world, name);
  if (process === undefined || (!process.told && fact.event !== 'SessionStart')) return;
  const { error, ...rest } = fact;
  const detail = fact.event === 'StopFailure' && error !== undefined ? { error } : {};
  const common = { sessionId: process.session, transcriptExists: true, ...detail };
  world.tell({ kind: 'hook reported', name, launchId: process.launchId, hook: { ...common, ...rest } });
}

/** The next thing that a process does by itself: its SessionStart, then its connections. */
function speak(world: FleetWorld, name: string): void {
  const process = aliveOf(world, name);
  if (process === undefined) return;
  const { speech, ears } = process.temper;
  if (!process.told && speech === 'tells') {
    process.told = true;
    const launch = [world.agent(name)].flatMap((agent) => (agent === undefined ? [] : (currentLaunch(agent) ?? [])))[0];
    const source = launch?.mode === 'resume' ? 'resume' : 'startup';
    hook(world, name, { event: 'SessionStart', source });
    return;
  }
  if (!process.connected && ears === 'connects') connectAll(world, process);
}

function connectAll(world: FleetWorld, process: SimulatedProcess): void {
  process.connected = true;
  for (const server of Object.keys(serversOf(process.name))) {
    const subject = { name: process.name, server, launchId: process.launchId, session: `digest-${world.now}` };
    const version = process.launchId.length % 4 === 0 ? olderClient : client;
    world.tell({ ...subject, kind: 'mcp initialized', client: version });
    world.tell({ ...subject, kind: 'mcp tools listed' });
    world.tell({ ...subject, kind: 'mcp stream opened' });
  }
}

/** A connection of which not everything arrives. */
function connect(world: FleetWorld, name: string, choice: Choice): void {
  const process = aliveOf(world, name);
  if (process === undefined || process.temper.ears === 'deaf') return;
  const subject = { name, server: serverOf(name, choice), launchId: process.launchId, session: 'digest' };
  const parts = choice.below(4);
  process.connected = parts === 3;
  world.tell({ ...subject, kind: 'mcp initialized', client: choice.below(3) === 0 ? olderClient : client });
  if (parts > 0) world.tell({ ...subject, kind: 'mcp tools listed' });
  if (parts > 1) world.tell({ ...subject, kind: 'mcp stream opened' });
}

function endpointOf(
  process: SimulatedProcess,
  choice: Choice,
): {
  readonly name: string;
  readonly server: string;
  readonly launchId: string;
} {
  return { name: process.name, server: serverOf(process.name, choice), launchId: process.launchId };
}

function answered(world: FleetWorld, choice: Choice): void {
  const probes = world.tasks.filter((task) => task.kind === 'probe');
  const task = probes[choice.below(2)];
  if (task !== undefined) answer(world, task, choice.below(3) === 0 ? 'failed' : 'by the client');
}

function answer(world: FleetWorld, task: Extract<Effect, { kind: 'probe' }>, how: 'by the client' | 'failed'): void {
  const { name, server, launchId, id: probeId } = task;
  const subject = { name, server, launchId, probeId };
  const process = world.processOf(launchId);
  world.tell({ ...subject, kind: 'probe sent' });
  if (how === 'by the client' && process?.alive === true && process.connected) {
    world.now += 3;
    world.tell({ ...subject, kind: 'probe answered', roundTripMs: 3 });
    return;
  }
  world.now += 5_000;
  world.tell({ ...subject, kind: 'probe failed' });
}

export const tempers: readonly [Temper, ...Temper[]] = [
  { speech: 'tells', ears: 'connects' },
  { speech: 'tells', ears: 'connects' },
  { speech: 'tells', ears: 'shy' },
  { speech: 'tells', ears: 'deaf' },
  { speech: 'silent', ears: 'connects' },
  { speech: 'silent', ears: 'deaf' },
];

/** The hands do a task, or a part of it before they are taken away, or fail at it. */
function actOnce(world: FleetWorld, choice: Choice): void {
  const tasks = world.tasks.filter(({ kind }) => kind !== 'probe');
  const task = tasks[choice.below(Math.max(1, tasks.length))];
  if (task === undefined || !world.isWanted(task)) return;
  act(world, task, choice, choice.of(['whole', 'whole', 'whole', 'unreported', 'half', 'fails']));
}

type How = 'whole' | 'unreported' | 'half' | 'fails';

function act(world: FleetWorld, task: Effect, choice: Choice, how: How): void {
  if (task.kind === 'launch') actLaunch(world, task, choice, how);
  if (task.kind === 'end') actEnd(world, task, how);
  if (task.kind === 'type') actType(world, task, how);
  if (task.kind === 'prompt') actPrompt(world, task, how);
}

function actLaunch(world: FleetWorld, task: Extract<Effect, { kind: 'launch' }>, choice: Choice, how: How): void {
  const { name } = task;
  const launchId = task.launch.id;
  if (world.processOf(launchId) === undefined) {
    if (how === 'fails') {
      failLaunch(world, name, launchId, choice);
      return;
    }
    world.endProcesses(name);
    if (how === 'half') return;
    world.startProcess(task, choice.of(tempers));
  }
  if (how === 'unreported' || how === 'half') return;
  world.tell({ kind: 'launched', name, launchId, process: { tmuxSession: '$1', pane: '%1', pid: 4711 } });
}

function failLaunch(world: FleetWorld, name: string, launchId: string, choice: Choice): void {
  // Only a process that the record knows may be there when a launch fails; else it would be nobody's.
  const agent = world.agent(name);
  const process = aliveOf(world, name);
  if (process !== undefined && agent !== undefined && !liveLaunchIds(agent).includes(process.launchId)) return;
  if (choice.below(3) === 0) world.endProcesses(name);
  if (choice.below(3) === 0) {
    world.tell({ kind: 'launch waits', name, launchId, sentence: 'tmux is slow' });
    return;
  }
  const code = choice.of(['tmux-failed', 'claude-missing', 'launch-refused']);
  world.tell({ kind: 'launch failed', name, launchId, code, sentence: 'it cannot start' });
}

function actEnd(world: FleetWorld, { name, launchId }: Extract<Effect, { kind: 'end' }>, how: How): void {
  if (how === 'fails') return;
  world.endProcesses(name);
  if (how !== 'whole') return;
  world.tell({ kind: 'process ended', name, launchId, exit: { how: 'gone', reading: 'other', detail: 'stopped' } });
}

function actType(world: FleetWorld, task: Extract<Effect, { kind: 'type' }>, how: How): void {
  const { name, server, attemptId } = task;
  const process = runningOf(world, name);
  if (process === undefined || world.agent(name)?.activity.kind !== 'idle' || how === 'fails') {
    const detail = 'something is in the way';
    world.tell({ kind: 'rung ended', name, server, attemptId, outcome: 'put off', detail });
    return;
  }
  if (how === 'whole') world.tell({ kind: 'rung acted', name, server, attemptId });
  if (process.temper.ears !== 'deaf') connectAll(world, process);
}

function actPrompt(world: FleetWorld, task: Extract<Effect, { kind: 'prompt' }>, how: How): void {
  const { name, promptId, launchId } = task;
  const prompt = world.agent(name)?.prompts?.find(({ id }) => id === promptId);
  if (how === 'fails') world.tell({ kind: 'prompt waits', name, promptId, reason: 'a dialog' });
  else if (prompt?.state.kind === 'queued') world.tell({ kind: 'prompt taken', name, promptId, launchId });
  else if (prompt?.state.kind === 'typing') world.tell({ kind: 'prompt typed', name, promptId, launchId });
  else if (prompt?.state.kind === 'typed' && how === 'whole') {
    hook(world, name, { event: 'UserPromptSubmit', promptDigest: prompt.digest });
  }
}

const calmRounds = 400;

/**
 * Lets the world go on with nobody interfering, and each new process of this temper: the hands work, processes do what they
 * are made for, turns end. Whatever was begun must come to an end within that.
 */
export function calmDown(world: FleetWorld, temper: Temper): void {
  world.note('from here on nobody interferes');
  if (world.state.hands === undefined) world.tell({ kind: 'hands changed', holder: 'window-9' });
  goOn(world, temper);
  const unfinished = Object.values(world.state.agents).filter((agent) => !isFinal(world, agent));
  if (unfinished.length === 0) return;
  const words = unfinished.map((agent) => `${agent.name} ${JSON.stringify(lifeOf(agent, world.healths(agent)))}`);
  world.broken(`it does not come to an end: ${words.join()} ${JSON.stringify(unfinished)}`);
}

function goOn(world: FleetWorld, temper: Temper): void {
  for (let round = 0; round < calmRounds; round += 1) {
    const before = world.state;
    world.now += 1;
    world.observe();
    for (const name of names) {
      settleProcess(world, name);
      checkProcesses(world);
    }
    for (const task of world.tasks) {
      if (!world.isWanted(task)) continue;
      if (task.kind === 'probe') answer(world, task, 'by the client');
      else act(world, task, new Choice(tempers.indexOf(temper)), 'whole');
    }
    if (world.state !== before) continue;
    if (Object.values(world.state.agents).every((agent) => isFinal(world, agent))) return;
    if (world.wakeAt === undefined) return;
    world.wait(Math.max(1, world.wakeAt - world.now));
  }
}

function settleProcess(world: FleetWorld, name: string): void {
  const process = runningOf(world, name);
  if (process === undefined) return;
  speak(world, name);
  const activity = world.agent(name)?.activity;
  if (!process.told || activity === undefined || activity.kind === 'idle') return;
  if (activity.kind === 'busy') hook(world, name, { event: 'Stop' });
  // Claude's live-session file tells what no hook did.
  else if (activity.kind === 'unknown') {
    world.now += 1;
    world.tell({ kind: 'activity observed', name, launchId: process.launchId, activity: 'idle' });
  }
}

/** Nothing more happens by itself, and where a person is needed a sentence says so. */
function isFinal(world: FleetWorld, agent: Agent): boolean {
  const { life, detail } = lifeOf(agent, world.healths(agent));
  if (life === 'stopped' || life === 'sleeping' || life === 'ready') return true;
  if (life === 'blocked' || life === 'dead') return detail !== '';
  return life === 'healing' && detail !== '' && agent.activity.kind !== 'idle' && agent.activity.kind !== 'unknown';
}

/** Stops every agent; nothing may be left alive, and each launch that was asked for has ended. */
export function stopAll(world: FleetWorld): void {
  for (const agent of Object.values(world.state.agents)) {
    if (currentLaunch(agent) === undefined) continue;
    world.tell({ kind: 'stop requested', name: agent.name, reason: 'shutdown', then: 'keep' });
  }
  for (const task of world.tasks) if (task.kind === 'end') act(world, task, new Choice(0), 'whole');
  const alive = world.processes.filter((process) => process.alive).map(({ launchId }) => launchId);
  if (alive.length > 0) world.broken(`alive after everything was stopped: ${alive.join()}`);
  const lives = Object.values(world.state.agents).filter((agent) => currentLaunch(agent) !== undefined);
  if (lives.length > 0) world.broken(`not stopped: ${lives.map(({ name, life }) => `${name} ${life.kind}`).join()}`);
}
