import type { AgentRow, FleetView } from '../core/fleet/select.ts';
import { listNames } from './names.ts';

/** What a screen reader was told already. It outlives the page, so that showing the view again repeats nothing. */
export interface AnnouncementMemory {
  /** Agents that lost their tools, with every cause that was announced until they have them again. */
  readonly lost: Readonly<Record<string, readonly string[]>>;
  readonly gateway: 'here' | 'away';
}

export const nothingAnnounced: AnnouncementMemory = { lost: {}, gateway: 'here' };

/** Names that are read out before the rest is counted. */
const namesRead = 5;

/** Sentences for what became known with `view`: new blackouts, recoveries, the gateway gone or back; each once. */
export function announce(
  memory: AnnouncementMemory,
  view: FleetView,
): { readonly memory: AnnouncementMemory; readonly sentences: readonly string[] } {
  const lost = new Map(Object.entries(memory.lost));
  const news: string[] = [];
  for (const { cause, what, agents } of view.blackouts) {
    const fresh = agents.filter((name) => lost.get(name)?.includes(cause) !== true);
    for (const name of fresh) lost.set(name, [...(lost.get(name) ?? []), cause]);
    if (fresh.length > 0) news.push(`${listNames(fresh, namesRead)} lost ${possessive(fresh)} tools. ${what}`);
  }
  const recovered = settle(lost, view);
  if (recovered.length > 0) {
    const have = recovered.length === 1 ? 'has' : 'have';
    news.push(`${listNames(recovered, namesRead)} ${have} ${possessive(recovered)} tools again.`);
  }
  const gateway = gatewayIn(view, memory.gateway);
  if (gateway !== memory.gateway) {
    news.push(gateway === 'away' ? 'The gateway is away. Showing the last known state.' : 'The gateway is back.');
  }
  return { memory: { lost: Object.fromEntries(lost), gateway }, sentences: news };
}

/** Forgets lost agents whose blackout is over and returns those that are bound again. */
function settle(lost: Map<string, readonly string[]>, view: FleetView): readonly string[] {
  const dark = new Set(view.blackouts.flatMap(({ agents }) => agents));
  const rows = new Map(view.agents.map((row) => [row.name, row]));
  const recovered: string[] = [];
  for (const name of [...lost.keys()].filter((known) => !dark.has(known))) {
    const fate = fateOf(rows.get(name));
    if (fate === 'recovered') recovered.push(name);
    if (fate !== 'open') lost.delete(name);
  }
  return recovered;
}

function fateOf(row: AgentRow | undefined): 'recovered' | 'given up' | 'open' {
  switch (row?.worst) {
    case 'bound':
    case 'degraded':
    case 'not checkable':
      return 'recovered';
    case 'off':
    case undefined:
      return 'given up';
    case 'pending':
    case 'suspect':
    case 'unbound':
    case 'gateway down':
      return 'open';
  }
}

/** A gateway that is away for a moment is not worth a word: only what the status calls an error is. */
function gatewayIn(view: FleetView, before: AnnouncementMemory['gateway']): AnnouncementMemory['gateway'] {
  if (view.connection.kind === 'connected') return 'here';
  return view.status.severity === 'error' ? 'away' : before;
}

function possessive(names: readonly string[]): 'its' | 'their' {
  return names.length === 1 ? 'its' : 'their';
}
