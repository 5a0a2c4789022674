import { type Agent, currentLaunch } from '../../src/core/fleet/agent.ts';
import { lifeOf } from '../../src/core/fleet/lifeOf.ts';
import { promptWaitsFor } from '../../src/core/fleet/planPrompts.ts';
import { isSettled } from '../../src/core/fleet/reducePrompts.ts';
import { openRestoration } from '../../src/core/fleet/restore.ts';
import { type Brain, FleetWorld, type Temper } from './fleetWorld.ts';
import { act } from './fleetWorldHands.ts';
import { create } from './fleetWorldPerson.ts';
import { Choice, hook, names, runningOf, saveContext, speak, tempers } from './fleetWorldProcesses.ts';

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

const calmRounds = 400;

/**
 * Lets the world go on with nobody interfering, and each new process of this temper: the hands work, processes do what they
 * are made for, turns end. Whatever was begun must come to an end within that.
 */
export function calmDown(world: FleetWorld, temper: Temper): void {
  world.note('from here on nobody interferes');
  if (world.state.hands === undefined) world.tell({ kind: 'hands changed', holder: 'window-9' });
  goOn(world, temper);
  if (openRestoration(world.state) !== undefined) world.broken('a restoration does not come to an end');
  const unfinished = Object.values(world.state.agents).filter((agent) => !isFinal(world, agent));
  if (unfinished.length === 0) return;
  const words = unfinished.map(
    (agent) => `${agent.name} ${JSON.stringify(lifeOf(agent, world.healths(agent), world.state.hands))}`,
  );
  world.broken(`it does not come to an end: ${words.join()} ${JSON.stringify(unfinished)}`);
}

function goOn(world: FleetWorld, temper: Temper): void {
  for (let round = 0; round < calmRounds; round += 1) {
    const before = world.state;
    world.now += 1;
    world.observe();
    for (const name of names) {
      settleProcess(world, name);
      world.checkProcesses();
    }
    for (const task of world.tasks) {
      // Zero: a screen with an empty input line.
      const choice = new Choice(task.kind === 'launch' ? tempers.indexOf(temper) : 0);
      if (world.isWanted(task)) act(world, task, choice, 'whole');
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
  const healths = world.healths(agent);
  const { life, detail } = lifeOf(agent, healths, world.state.hands);
  const isOpen = agent.prompts?.some((one) => !isSettled(one) && promptWaitsFor(agent, one, healths) === undefined);
  if (isOpen === true || (agent.saveRestart !== undefined && agent.saveRestart.ended === undefined)) return false;
  if (agent.life.kind === 'running' && isInterrupting(agent)) return false;
  if (life === 'stopped' || life === 'sleeping') return true;
  if (life === 'ready') return agent.relaunch?.when !== 'idle' || waitsForPerson(agent);
  if (life === 'blocked' || life === 'dead') return detail !== '';
  return life === 'healing' && detail !== '' && agent.activity.kind !== 'idle' && agent.activity.kind !== 'unknown';
}

function isInterrupting({ life }: Agent): boolean {
  const interrupt = life.kind === 'running' ? life.running.interrupt : undefined;
  return interrupt !== undefined && interrupt.ended === undefined;
}

/** What keeps an agent as it is for as long as nobody comes. */
function waitsForPerson({ activity, life, prompts, session }: Agent): boolean {
  return (
    activity.kind !== 'idle' ||
    session?.unsaved?.missingAt !== undefined ||
    (life.kind === 'running' && life.running.dialog !== undefined) ||
    prompts?.some((prompt) => !isSettled(prompt)) === true
  );
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
