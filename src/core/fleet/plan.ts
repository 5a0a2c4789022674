import { bindingHealth, type Health } from '../binding/health.ts';
import type { Effect } from './effects.ts';
import type { FleetEvent } from './events.ts';
import { planHealing } from './planHealing.ts';
import { planProbes } from './planProbes.ts';
import { planPrompts } from './planPrompts.ts';
import { planScreen } from './planScreen.ts';
import { planRelaunch } from './planRelaunch.ts';
import { planRestore } from './planRestore.ts';
import { planSaveRestart } from './planSaveRestart.ts';
import { planSleep } from './planSleep.ts';
import { planTranscript } from './planTranscript.ts';
import { planVerification } from './planVerification.ts';
import { type Agent, enabledServers } from './agent.ts';
import type { FleetState } from './state.ts';

/**
 * What the state calls for now. `decisions` are facts for `reduce` (fold them, then plan again); `effects` are to be in
 * progress as long as they are planned; `wakeAt` is the next time at which the answer can change by itself.
 */
export interface Plan {
  readonly decisions: readonly FleetEvent[];
  readonly effects: readonly Effect[];
  readonly wakeAt?: number;
}

/** What one rule adds to the plan of an agent. */
type Part = Omit<Plan, 'effects'> & Partial<Pick<Plan, 'effects'>>;

/** Derives the plan. Pure: the same state and time give the same plan, with the same effect ids. */
export function plan(state: FleetState, now: number): Plan {
  const restore = planRestore(state, now);
  if (restore.length > 0) return { decisions: restore, effects: [] };
  const decisions: FleetEvent[] = [];
  const effects: Effect[] = [];
  const wakes: number[] = [];
  for (const agent of Object.values(state.agents)) {
    effects.push(...lifeEffects(agent));
    const transcript = planTranscript(agent, now);
    effects.push(...transcript.effects);
    if (transcript.wakeAt !== undefined) wakes.push(transcript.wakeAt);
    const healths: Health[] = [];
    for (const server of enabledServers(agent)) {
      const health = bindingHealth(agent, server, state.epoch, now);
      healths.push(health);
      if ('until' in health) wakes.push(health.until);
      effects.push(...planProbes(state, agent, server, now, wakes));
      const healing = planHealing(state, agent, server, health, now, wakes);
      decisions.push(...healing.decisions);
      effects.push(...healing.effects);
      if (asksForLaunch(healing)) return { decisions, effects };
    }
    decisions.push(...incidentsOfNone(agent, now));
    const relaunch = planRelaunch(state, agent, healths, now);
    const parts: readonly Part[] = [
      planVerification(state, agent, healths, now),
      planPrompts(agent, healths, now),
      planScreen(agent, now),
      planSaveRestart(agent, state.epoch, now),
      relaunch,
      // What is relaunched is not put to sleep.
      ...(relaunch.decisions.length > 0 ? [] : [planSleep(state, agent, healths, now)]),
    ];
    for (const part of parts) {
      decisions.push(...part.decisions);
      effects.push(...(part.effects ?? []));
      if (part.wakeAt !== undefined) wakes.push(part.wakeAt);
    }
    if (parts.some(asksForLaunch)) return { decisions, effects };
  }
  const future = wakes.filter((at) => at > now);
  return { decisions, effects, ...(future.length > 0 && { wakeAt: Math.min(...future) }) };
}

/** What was wrong with an endpoint that the agent is not to have any more holds nothing up. */
function incidentsOfNone(agent: Agent, now: number): readonly FleetEvent[] {
  const open = Object.keys(agent.incidents);
  if (open.length === 0) return [];
  const servers = enabledServers(agent);
  return open
    .filter((server) => !servers.includes(server))
    .map((server) => ({ at: now, kind: 'incident closed', name: agent.name, server, outcome: 'over' }));
}

/** One at a time: the limits of the fleet are judged anew once it is folded in. */
function asksForLaunch({ decisions }: Pick<Plan, 'decisions'>): boolean {
  return decisions.some(({ kind }) => kind === 'launch requested');
}

function lifeEffects(agent: Agent): readonly Effect[] {
  const { life, name } = agent;
  switch (life.kind) {
    case 'launching':
      return [{ kind: 'launch', id: `launch:${life.launch.id}`, name, launch: life.launch }];
    case 'stopping': {
      const { id: launchId } = life.launch;
      return life.reason === 'idle'
        ? [{ kind: 'end', id: `sleep:${launchId}`, name, launchId, unless: 'in use' }]
        : [{ kind: 'end', id: `end:${launchId}`, name, launchId }];
    }
    case 'running':
    case 'stopped':
    case 'sleeping':
    case 'blocked':
    case 'dead':
      return [];
  }
}
