import type { Health } from '../../src/core/binding/health.ts';
import { type Agent, enabledServers, liveLaunchIds } from '../../src/core/fleet/agent.ts';
import type { Effect } from '../../src/core/fleet/effects.ts';
import type { FleetEvent } from '../../src/core/fleet/events.ts';
import { lifeOf } from '../../src/core/fleet/lifeOf.ts';
import { plan } from '../../src/core/fleet/plan.ts';
import { relaunchTimes } from '../../src/core/fleet/planRelaunch.ts';
import { isSettled } from '../../src/core/fleet/reducePrompts.ts';
import { agentOf, type FleetState } from '../../src/core/fleet/state.ts';
import type { Incident } from '../../src/core/healing/incident.ts';

/** What the rules need to know of a process. */
interface KnownProcess {
  readonly name: string;
  readonly alive: boolean;
}

// Each rule tells in words how it is broken; undefined: it holds.

/** Each launch is alive or has ended with one reason; none is forgotten, none lives again. */
export function ruleOfLaunches(
  former: Agent,
  agent: Agent | undefined,
  processes: readonly KnownProcess[],
): string | undefined {
  if (agent === undefined) {
    const isLeft = processes.some(({ name, alive }) => name === former.name && alive);
    return isLeft ? `${former.name} was removed while its process lives` : undefined;
  }
  if (former.life === agent.life && former.launches === agent.launches) return undefined;
  const ended = agent.launches.map(({ launch }) => launch.id);
  const live = liveLaunchIds(agent);
  if (new Set(ended).size < ended.length) return `a launch ended twice: ${ended.join()}`;
  // The pane of an agent that ended is cleared before the agent is removed.
  const isCleared = agent.life.kind === 'stopping' && agent.life.then === 'remove';
  const risen = live.find((id) => ended.includes(id) && !isCleared);
  if (risen !== undefined) return `a launch is alive and has ended: ${risen}`;
  const lost = liveLaunchIds(former).find((id) => !live.includes(id) && !ended.includes(id));
  if (lost !== undefined) return `a launch ended without a reason: ${lost}`;
  const forgotten = former.launches.slice(-15).find(({ launch }) => !ended.includes(launch.id));
  return forgotten === undefined ? undefined : `the end of a launch was forgotten: ${forgotten.launch.id}`;
}

/** Every blackout is being healed, waits for a person with a sentence, or is over; `ready` means proven. */
export function ruleOfBlackouts(
  state: FleetState,
  agent: Agent,
  healths: readonly Health[],
  now: number,
): string | undefined {
  const { name, incidents, life } = agent;
  const shown = lifeOf(agent, healths, state.hands);
  const waitsForPerson = shown.life === 'blocked' || shown.life === 'dead';
  if (waitsForPerson && shown.detail.trim() === '') return `${name} is ${shown.life} without a sentence`;
  if (shown.life === 'ready' && life.kind === 'running' && life.running.verifiedAt === undefined) {
    return `${name} is shown as ready and was never verified`;
  }
  if (!healths.some((health) => health.state === 'unbound')) return undefined;
  const isKnown = enabledServers(agent).every((server, index) => {
    return healths[index]?.state !== 'unbound' || incidents[server] !== undefined;
  });
  if (!isKnown) return `${name} is unbound without an incident`;
  if (waitsForPerson) return undefined;
  if (shown.life !== 'healing') return `${name} is unbound and shown as ${shown.life}`;
  if (shown.detail !== '' || Object.values(incidents).some(isUnderWay)) return undefined;
  if (state.hands === undefined) return `${name} waits for hands without a sentence`;
  // By itself: what wakes the fleet for another agent may never come.
  const { decisions, wakeAt } = plan({ ...state, agents: { [name]: agent } }, now);
  return decisions.length > 0 || wakeAt !== undefined ? undefined : `${name} is unbound, and nothing is done about it`;
}

/** Nobody is stopped, put to sleep or relaunched by itself in the middle of something. */
export function ruleOfDecisions(state: FleetState, decision: FleetEvent, now: number): string | undefined {
  if (decision.kind !== 'stop requested' && decision.kind !== 'launch requested') return undefined;
  const agent = agentOf(state, decision.name);
  if (agent?.life.kind !== 'running') return undefined;
  const isSleep = decision.kind === 'stop requested';
  if (isSleep && decision.reason !== 'idle') {
    const { restoration } = state;
    const isCalledOff =
      restoration?.ended?.outcome === 'called off' && agent.life.running.launch.restoration === restoration.id;
    return isCalledOff ? undefined : `${agent.name} was stopped though nobody asked for it`;
  }
  if (!isSleep && decision.launch.cause !== 'configuration') return undefined;
  const what = isSleep ? 'put to sleep' : 'relaunched for its configuration';
  const isWaiting = agent.prompts?.some((prompt) => !isSettled(prompt)) === true;
  if (agent.activity.kind !== 'idle') return `${agent.name} was ${what} while it is ${agent.activity.kind}`;
  if (isWaiting) return `${agent.name} was ${what} while a prompt waits for it`;
  if (Object.keys(agent.incidents).length > 0) return `${agent.name} was ${what} while it is healed`;
  if (isSleep) return undefined;
  const seen = agent.life.running.look?.seen;
  const isLookedAt = seen?.shows === 'empty input' && now - seen.at <= relaunchTimes.lookIsGoodFor;
  return isLookedAt ? undefined : `${agent.name} was ${what} though nobody looked at its screen`;
}

/** Keys go only where they were meant to go. */
export function ruleOfEffects(state: FleetState, effect: Effect): string | undefined {
  const agent = agentOf(state, effect.name);
  if (agent === undefined) return `${effect.kind} for nobody`;
  const { life, activity, name, prompts } = agent;
  switch (effect.kind) {
    case 'interrupt': {
      const interrupt = life.kind === 'running' ? life.running.interrupt : undefined;
      const isThatTurn = activity.kind === 'busy' && activity.since === interrupt?.turnSince;
      return isThatTurn && interrupt.pressedAt === undefined ? undefined : `Escape goes to ${name} outside of its turn`;
    }
    case 'prompt': {
      const prompt = prompts?.find(({ id }) => id === effect.promptId);
      const isOpen = prompt !== undefined && !isSettled(prompt);
      return isOpen ? undefined : `a prompt of ${name} is sent though it is ${prompt?.state.kind ?? 'unknown'}`;
    }
    case 'type':
    case 'look':
    case 'nudge': {
      const isRunning = life.kind === 'running' && life.running.launch.id === effect.launchId;
      return isRunning ? undefined : `${effect.kind} goes to ${name} while it is ${life.kind}`;
    }
    case 'launch':
    case 'end':
    case 'probe':
    case 'transcript':
    case 'hooks':
      return undefined;
  }
}

/** Whether a rung was started and has not ended. */
export function isUnderWay({ attempts }: Incident): boolean {
  const last = attempts.at(-1);
  return last !== undefined && last.endedAt === undefined;
}
