import { needOf } from '../core/fleet/need.ts';
import type { AgentRow } from '../core/fleet/select.ts';

/** What the rows of agents look like, by name, in the order in which they are shown. */
export type ShownRows = ReadonlyMap<string, { readonly group: string; readonly look: string }>;

/** More rows than this are drawn as one. */
const oneByOneAtMost = 20;

/** The agents whose rows are to be drawn anew; `all`: rows came, went or moved, or most of them changed. */
export function changedRows(before: ShownRows, after: ShownRows): readonly string[] | 'all' {
  if (before.size !== after.size) return 'all';
  const changed: string[] = [];
  const former = before.entries();
  for (const [name, { group, look }] of after) {
    const [formerName, row] = former.next().value ?? [];
    if (formerName !== name || row?.group !== group) return 'all';
    if (row.look !== look) changed.push(name);
  }
  return changed.length > oneByOneAtMost ? 'all' : changed;
}

const namedAtMost = 5;

/** The number on the view's icon, and who they are. Undefined: nobody waits. */
export function needBadge(
  waiting: readonly AgentRow[],
): { readonly value: number; readonly tooltip: string } | undefined {
  if (waiting.length === 0) return undefined;
  const named = waiting.slice(0, namedAtMost).map((agent) => `${agent.name} is ${needOf(agent)?.kind ?? ''}`);
  const more = waiting.length > namedAtMost ? `, and ${waiting.length - namedAtMost} more` : '';
  return { value: waiting.length, tooltip: `Waiting for you: ${named.join(', ')}${more}` };
}
