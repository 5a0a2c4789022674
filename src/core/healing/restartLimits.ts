import { type Agent, liveLaunches } from '../fleet/agent.ts';
import type { FleetState } from '../fleet/state.ts';
import { healingTimes } from './ladder.ts';

const hourMs = 3600_000;

/** What Bowline's own restarts leave room for. */
export interface RestartLimits {
  /** Restarts of this agent within the last hour. */
  readonly recent: number;
  /** When the fleet allows the next one; in the past: now. */
  readonly nextAt: number;
  /** When the oldest of those within the hour no longer counts; absent: there is none. */
  readonly hourOverAt?: number;
}

/** What happened before `since` does not count within the hour. */
export function restartLimits(state: FleetState, agent: Agent, now: number, since = 0): RestartLimits {
  const recent = restartsOf(agent).filter((at) => now - at < hourMs && at >= since);
  return {
    recent: recent.length,
    nextAt: Math.max(0, ...Object.values(state.agents).flatMap(restartsOf)) + healingTimes.restartEvery,
    ...(recent.length > 0 && { hourOverAt: Math.min(...recent) + hourMs }),
  };
}

/** When Bowline by itself restarted this agent; what was refused before anything was ended does not count. */
function restartsOf(agent: Agent): readonly number[] {
  return [
    ...agent.launches.filter(({ refused }) => refused === undefined).map(({ launch }) => launch),
    ...liveLaunches(agent),
  ]
    .filter(({ cause }) => cause === 'healing')
    .map(({ requestedAt }) => requestedAt);
}
