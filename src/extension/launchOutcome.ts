import { isWaiting } from '../core/fleet/need.ts';
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
    case 'sleeping':
      return 'ended';
  }
}

/**
 * Agents that became blocked or died between two views. Those that were not known before are no news, such as all of
 * them when a window opens, unless they are named in `awaited`.
 */
export function newlyInNeed(
  before: readonly AgentRow[],
  after: readonly AgentRow[],
  awaited: ReadonlySet<string>,
): readonly AgentRow[] {
  const former = new Map(before.map((row) => [row.name, row]));
  return after.filter((row) => {
    if (row.life !== 'blocked' && row.life !== 'dead') return false;
    const known = former.get(row.name);
    if (known === undefined) return awaited.has(row.name);
    return known.life !== row.life || known.detail !== row.detail;
  });
}

/** Agents that began to wait for an answer between two views. What a window finds when it opens is no news. */
export function newlyWaiting(before: readonly AgentRow[], after: readonly AgentRow[]): readonly AgentRow[] {
  const former = new Map(before.map((row) => [row.name, row]));
  return after.filter((row) => {
    const known = former.get(row.name);
    // Claude's file and its hook tell of one question at different times, and may name it differently.
    return known !== undefined && isWaiting(row) && !isWaiting(known);
  });
}

/**
 * Why a choice that was offered when `told` was shown must not act any more, in one sentence; undefined: the agent needs
 * a person as it did then. `now` undefined: the agent is gone.
 */
export function changedSince(told: AgentRow, now: AgentRow | undefined): string | undefined {
  const { name, life, detail } = told;
  if (now === undefined) return `Nothing was done: there is no agent ${name} any more.`;
  if (now.life === life && now.detail === detail) return undefined;
  const state = `${now.life}${now.detail === '' ? '' : `, ${now.detail}`}`;
  return `Nothing was done: what the message said of ${name} is over. By now it is ${state}.`;
}
