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
 * The newest `limit` lines, newest first. `entries` are newest last. The entries of one agent keep their order: each is in a
 * line of its own, below those of its newer ones.
 */
export function groupTimeline(entries: readonly TimelineEntry[], limit: number): readonly TimelineGroup[] {
  const groups: (TimelineGroup & { readonly agents: string[] })[] = [];
  const open = new Map<string, number>();
  const lowest = new Map<string, number>();
  for (const { at, agent, server, text } of [...entries].reverse()) {
    const key = JSON.stringify([text, server]);
    const place = open.get(key) ?? groups.length;
    const group = groups[place];
    if (group !== undefined && group.at - at <= together && place > (lowest.get(agent) ?? -1)) {
      group.agents.push(agent);
      lowest.set(agent, place);
      continue;
    }
    lowest.set(agent, groups.length);
    open.set(key, groups.length);
    groups.push({ at, text, ...(server !== undefined && { server }), agents: [agent] });
  }
  return groups.slice(0, limit).map((group) => ({ ...group, agents: group.agents.toReversed() }));
}
