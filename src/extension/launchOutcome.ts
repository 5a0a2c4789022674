import type { AgentRow } from '../core/fleet/select.ts';

/** What became of a launch that somebody waits for. */
export type LaunchOutcome = 'open' | 'ready' | 'needs a person' | 'ended';

/**
 * Judges the launch that follows `launchesBefore` launches of this agent. `row` undefined: the agent is gone.
 * Degraded healing counts as open; it ends as `ready` or needs a person.
 */
export function launchOutcome(
  row: AgentRow | undefined,
  launchCount: number | undefined,
  launchesBefore: number,
): LaunchOutcome {
  if (row === undefined || launchCount === undefined) return launchesBefore === 0 ? 'open' : 'ended';
  if (launchCount <= launchesBefore) return 'open';
  switch (row.life) {
    case 'launching':
    case 'verifying':
    case 'healing':
    case 'stopping':
      return 'open';
    case 'ready':
      return row.worst === 'pending' ? 'open' : 'ready';
    case 'blocked':
    case 'dead':
      return 'needs a person';
    case 'stopped':
      return 'ended';
  }
}

/** Agents that began to need a person between two views, each with why. */
export function newlyInNeed(before: readonly AgentRow[], after: readonly AgentRow[]): readonly AgentRow[] {
  const key = (row: AgentRow): string => JSON.stringify([row.name, row.life, row.detail]);
  const known = new Set(before.map(key));
  return after.filter((row) => (row.life === 'blocked' || row.life === 'dead') && !known.has(key(row)));
}
