import type { AgentRow, EndpointState } from '../core/fleet/select.ts';

/** Up to this many agents are seen at a glance: no filter is shown. */
export const agentsWithoutFilter = 8;

export type AgentScope = 'all' | 'attention';

/** What the person narrowed the list of agents to. */
export interface AgentFilter {
  readonly text: string;
  readonly scope: AgentScope;
}

/** The agents to show, in the order of the fleet: rows that stay in place can be followed with the eye. */
export function filterAgents(rows: readonly AgentRow[], filter: AgentFilter): readonly AgentRow[] {
  if (rows.length <= agentsWithoutFilter) return rows;
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && filter.scope === 'all') return rows;
  return rows.filter((row) => {
    if (filter.scope === 'attention' && !needsAttention(row)) return false;
    const text = searchedText(row);
    return words.every((word) => text.includes(word));
  });
}

/** Whether a person should look at this agent. */
export function needsAttention(row: AgentRow): boolean {
  return row.life === 'blocked' || row.life === 'dead' || row.worst === 'unbound' || row.worst === 'gateway down';
}

/** How many endpoints are in each state, the most frequent first. */
export function countStates(rows: readonly AgentRow[]): readonly (readonly [state: EndpointState, count: number])[] {
  const counts = new Map<EndpointState, number>();
  for (const { state } of rows.flatMap(({ endpoints }) => endpoints)) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}

function searchedText(row: AgentRow): string {
  const endpoints = row.endpoints.flatMap(({ server, state, cause, client }) => [server, state, cause, client ?? '']);
  return [row.name, row.directory, row.life, row.detail, row.activity, ...endpoints].join('\n').toLowerCase();
}
