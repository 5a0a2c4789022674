import type { Effect } from '../../src/core/fleet/effects.ts';
import type { FleetWorld } from './fleetWorld.ts';
import { aliveOf, type Choice, connectAll, hook, runningOf, tempers } from './fleetWorldProcesses.ts';

type EffectOf<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>;

/** How far a task gets: whole, done and not reported, begun, or not at all. */
type How = 'whole' | 'unreported' | 'half' | 'fails';

/** The hands, or the gateway itself, do a task, or a part of it before they are taken away, or fail at it. */
export function actOnce(world: FleetWorld, choice: Choice): void {
  const tasks = world.tasks.filter(({ kind }) => kind !== 'probe');
  const task = tasks[choice.below(Math.max(1, tasks.length))];
  if (task === undefined || !world.isWanted(task)) return;
  act(world, task, choice, choice.of(['whole', 'whole', 'whole', 'unreported', 'half', 'fails']));
}

export function act(world: FleetWorld, task: Effect, choice: Choice, how: How): void {
  switch (task.kind) {
    case 'launch':
      actLaunch(world, task, choice, how);
      return;
    case 'end':
      actEnd(world, task, how);
      return;
    case 'type':
      actType(world, task, how);
      return;
    case 'prompt':
      actPrompt(world, task, how);
      return;
    case 'look':
      actLook(world, task, choice, how);
      return;
    case 'interrupt':
      actInterrupt(world, task, how);
      return;
    case 'nudge':
      actNudge(world, task, how);
      return;
    case 'transcript':
      actTranscript(world, task, how);
      return;
    case 'hooks':
      actHooks(world, task, how);
      return;
    case 'probe':
      answer(world, task, how === 'fails' ? 'failed' : 'by the client');
  }
}

function actLaunch(world: FleetWorld, task: EffectOf<'launch'>, choice: Choice, how: How): void {
  const { name } = task;
  const launchId = task.launch.id;
  if (world.processOf(launchId) === undefined) {
    if (how === 'fails') {
      failLaunch(world, task, choice);
      return;
    }
    world.endProcesses(name);
    if (how === 'half') return;
    world.startProcess(task, choice.of(tempers));
  }
  if (how === 'unreported' || how === 'half') return;
  world.tell({ kind: 'launched', name, launchId, process: { tmuxSession: '$1', pane: '%1', pid: 4711 } });
}

function failLaunch(world: FleetWorld, { name, launch }: EffectOf<'launch'>, choice: Choice): void {
  const launchId = launch.id;
  const process = aliveOf(world, name);
  const refusals = ['guard-blocked', 'conversation-in-use'] as const;
  const refusal = choice.of(['no', 'no', ...refusals]);
  if (refusal !== 'no') {
    // Before anything is ended.
    if (refusal === 'guard-blocked' && (process === undefined || launch.guard === 'bypassed')) return;
    world.tell({ kind: 'launch failed', name, launchId, code: refusal, sentence: 'it must not start' });
    return;
  }
  if (choice.below(3) === 0) world.endProcesses(name);
  if (choice.below(3) === 0) {
    world.tell({ kind: 'launch waits', name, launchId, sentence: 'tmux is slow' });
    return;
  }
  const code = choice.of(['tmux-failed', 'claude-missing', 'launch-refused']);
  world.tell({ kind: 'launch failed', name, launchId, code, sentence: 'it cannot start' });
}

/** One that is to be put to sleep and is in use goes on. */
function actEnd(world: FleetWorld, { name, launchId, unless }: EffectOf<'end'>, how: How): void {
  if (how === 'fails') {
    if (unless === 'in use') world.tell({ kind: 'sleep put off', name, launchId, detail: 'a terminal is attached' });
    return;
  }
  world.endProcesses(name);
  if (how !== 'whole') return;
  world.tell({ kind: 'process ended', name, launchId, exit: { how: 'gone', reading: 'other', detail: 'stopped' } });
}

function actType(world: FleetWorld, task: EffectOf<'type'>, how: How): void {
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

function actPrompt(world: FleetWorld, task: EffectOf<'prompt'>, how: How): void {
  const { name, promptId, launchId } = task;
  const prompt = world.agent(name)?.prompts?.find(({ id }) => id === promptId);
  if (how === 'fails') world.tell({ kind: 'prompt waits', name, promptId, reason: 'a dialog' });
  else if (prompt?.state.kind === 'queued') world.tell({ kind: 'prompt taken', name, promptId, launchId });
  else if (prompt?.state.kind === 'typing') world.tell({ kind: 'prompt typed', name, promptId, launchId });
  else if (prompt?.state.kind === 'typed' && how === 'whole') {
    hook(world, name, { event: 'UserPromptSubmit', promptDigest: prompt.digest });
  }
}

function actLook(world: FleetWorld, task: EffectOf<'look'>, choice: Choice, how: How): void {
  if (how === 'fails' || how === 'half' || world.processOf(task.launchId)?.alive !== true) return;
  const { name, launchId, askedAt } = task;
  const shows = choice.of(['empty input', 'empty input', 'unsent input', 'permission', 'dialog', 'unknown']);
  world.tell({ kind: 'screen looked at', name, launchId, askedAt, shows });
}

/** No hook tells of an interrupt; Claude's live-session file does. */
function actInterrupt(world: FleetWorld, task: EffectOf<'interrupt'>, how: How): void {
  const { name, launchId, interruptId } = task;
  if (world.processOf(launchId)?.alive !== true) return;
  if (how === 'fails') {
    const detail = 'a dialog is open. Attach and answer it.';
    world.tell({ kind: 'interrupt ended', name, launchId, interruptId, outcome: 'no effect', detail });
    return;
  }
  if (how !== 'unreported') world.tell({ kind: 'interrupt pressed', name, launchId, interruptId });
  world.now += 1;
  if (how !== 'half') world.tell({ kind: 'activity observed', name, launchId, activity: 'idle' });
}

/** The gateway drops the stream; the client comes back later, or never. */
function actNudge(world: FleetWorld, task: EffectOf<'nudge'>, how: How): void {
  const { name, server, launchId, attemptId } = task;
  const process = world.processOf(launchId);
  if (how === 'unreported' || how === 'half') return;
  if (how === 'fails' || process?.alive !== true) {
    world.tell({ kind: 'rung ended', name, server, attemptId, outcome: 'failed', detail: 'no stream is open' });
    return;
  }
  process.connected = false;
  world.tell({ kind: 'rung acted', name, server, attemptId });
  world.tell({ kind: 'mcp stream closed', name, server, launchId, session: 'digest' });
}

function actTranscript(world: FleetWorld, task: EffectOf<'transcript'>, how: How): void {
  const { name, sessionId } = task;
  world.tell({ kind: 'transcript seen', name, sessionId, file: how === 'whole' ? 'there' : 'missing' });
}

function actHooks(world: FleetWorld, { name, launchId }: EffectOf<'hooks'>, how: How): void {
  world.tell({ kind: 'hooks checked', name, launchId, ...(how === 'fails' && { silentSince: world.now }) });
}

/** A client answers a probe, or does not in time. */
export function answered(world: FleetWorld, choice: Choice): void {
  const probes = world.tasks.filter((task) => task.kind === 'probe');
  const task = probes[choice.below(2)];
  if (task !== undefined) answer(world, task, choice.below(3) === 0 ? 'failed' : 'by the client');
}

export function answer(world: FleetWorld, task: EffectOf<'probe'>, how: 'by the client' | 'failed'): void {
  const { name, server, launchId } = task;
  const subject = { name, server, launchId, sentAt: world.now };
  const process = world.processOf(launchId);
  if (how === 'by the client' && process?.alive === true && process.connected) {
    world.now += 3;
    world.tell({ ...subject, kind: 'probe answered', roundTripMs: 3 });
    return;
  }
  world.now += 5_000;
  world.tell({ ...subject, kind: 'probe failed' });
}
