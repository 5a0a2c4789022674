import type { TimelineEntry } from '../core/fleet/state.ts';

/** One line of the timeline: what happened to one agent, or to several at nearly the same time. */
export interface TimelineGroup {
  /** The newest of its entries. */
  readonly at: number;
  readonly text: string;
  readonly server?: string;
  readonly agents: readonly string[];
}

/** Entries this close together (milliseconds) that say the same are one line. */
const together = 2_000;

/**
 * The newest `limit` lines, newest first. `entries` are newest last. One agent is never twice in a line: a thing that
 * happened twice is two lines.
 */
export function groupTimeline(entries: readonly TimelineEntry[], limit: number): readonly TimelineGroup[] {
  const groups: (TimelineGroup & { readonly agents: string[] })[] = [];
  const open = new Map<string, (typeof groups)[number]>();
  for (const { at, agent, server, text } of [...entries].reverse()) {
    const key = JSON.stringify([text, server]);
    const group = open.get(key);
    if (group !== undefined && group.at - at <= together && !group.agents.includes(agent)) {
      group.agents.push(agent);
      continue;
    }
    const next = { at, text, ...(server !== undefined && { server }), agents: [agent] };
    groups.push(next);
    open.set(key, next);
  }
  return groups.slice(0, limit).map((group) => ({ ...group, agents: group.agents.toReversed() }));
}
