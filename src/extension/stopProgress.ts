import { type Agent, currentLaunch } from '../core/fleet/agent.ts';
import type { FleetState } from '../core/fleet/state.ts';

/** Whether Stop All changes anything for the agent: one that sleeps does not wake any more. */
export function isStoppable(agent: Agent): boolean {
  return currentLaunch(agent) !== undefined || agent.life.kind === 'sleeping';
}

/** Which of the agents are not stopped yet. */
export function stillRunning(state: FleetState, names: readonly string[]): readonly string[] {
  return names.filter((name) => {
    const agent = state.agents[name];
    return agent !== undefined && isStoppable(agent);
  });
}
