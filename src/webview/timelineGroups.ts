import type { TimelineEntry, TimelineKind } from '../core/fleet/state.ts';

/** One line of the timeline: what happened to one agent, to several at nearly the same time, or to the fleet. */
export interface TimelineGroup {
  /** The newest of its entries. */
  readonly at: number;
  readonly text: string;
  readonly server?: string;
  readonly kind?: TimelineKind;
  /** Empty: it concerns the whole fleet. */
  readonly agents: readonly string[];
}

/** Entries this close together (milliseconds) that say the same are one line. */
const together = 2_000;

/**
 * The newest `limit` lines, newest first. `entries` are newest last. The entries of one agent keep their order: each is in a
 * line of its own, below those of its newer ones; those of the fleet are in order with all.
 */
export function groupTimeline(entries: readonly TimelineEntry[], limit: number): readonly TimelineGroup[] {
  const groups: (TimelineGroup & { readonly agents: string[] })[] = [];
  const open = new Map<string, number>();
  const lowest = new Map<string, number>();
  for (const { at, agent, server, text, kind } of [...entries].reverse()) {
    const line = { at, text, ...(server !== undefined && { server }), ...(kind !== undefined && { kind }) };
    if (agent === undefined) {
      open.clear();
      groups.push({ ...line, agents: [] });
      continue;
    }
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
    groups.push({ ...line, agents: [agent] });
  }
  return groups.slice(0, limit).map((group) => ({ ...group, agents: group.agents.toReversed() }));
}
