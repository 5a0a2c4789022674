import { builtInServers } from '../core/fleet/builtInServers.ts';
import type { AgentRow, EndpointRow, EndpointState } from '../core/fleet/select.ts';

/** A cell of the matrix, or with no server the agent itself. */
export interface Place {
  readonly agent: string;
  readonly server?: string;
}

/** Every server that an agent has, Bowline's own first, the others by name. */
export function columnsOf(rows: readonly AgentRow[]): readonly string[] {
  const servers = new Set(rows.flatMap(({ endpoints }) => endpoints.map(({ server }) => server)));
  const own = builtInServers.filter((server) => servers.delete(server));
  return [...own, ...[...servers].sort()];
}

/** What stands above a column: Bowline's own servers lack the prefix that they share. */
export function columnTitle(server: string): string {
  return (builtInServers as readonly string[]).includes(server) ? server.replace(/^bowline-/, '') : server;
}

/**
 * States that stand out from the others. What is on its way, off or only not checkable is none of them, and that the gateway
 * is away is said once for all.
 */
export function isTroubled(state: EndpointState): boolean {
  return state === 'unbound' || state === 'degraded' || state === 'suspect';
}

/** Those that have a troubled endpoint, or are stuck. */
export function troubledAgents(rows: readonly AgentRow[]): readonly AgentRow[] {
  return rows.filter((row) => isStuck(row) || row.endpoints.some(({ state }) => isTroubled(state)));
}

/** The next place after `from` (from the first on without one, and around the end) that is troubled, or whose agent is stuck. */
export function nextTrouble(rows: readonly AgentRow[], from: Place | undefined): Place | undefined {
  const places = rows.flatMap((row) => {
    const troubled = row.endpoints.filter(({ state }) => isTroubled(state));
    const cells = troubled.map(({ server }): Place => ({ agent: row.name, server }));
    return cells.length === 0 && isStuck(row) ? [{ agent: row.name }] : cells;
  });
  const order = new Map(rows.map(({ name }, index) => [name, index]));
  const start = from === undefined ? -1 : (order.get(from.agent) ?? -1);
  const after = places.find((place) => {
    const at = order.get(place.agent) ?? 0;
    return at > start || (at === start && isAfter(place, from, rows[start]));
  });
  return after ?? places[0];
}

function isAfter({ server }: Place, from: Place | undefined, row: AgentRow | undefined): boolean {
  const index = (wanted: string | undefined): number => row?.endpoints.findIndex((one) => one.server === wanted) ?? -1;
  return index(server) > index(from?.server);
}

/** Only a person goes on with it. */
export function isStuck({ life }: AgentRow): boolean {
  return life === 'blocked' || life === 'dead';
}

export function endpointAt(row: AgentRow | undefined, server: string | undefined): EndpointRow | undefined {
  return row?.endpoints.find((endpoint) => endpoint.server === server);
}

/** What an agent is and does, in a few words. */
export function lifeText({ life, detail, activity }: AgentRow): string {
  if (life === 'ready') return activity === 'unknown' ? 'ready' : activity;
  return life === 'healing' && isRung(detail) ? `${life} (${detail})` : life;
}

/** Sentences that are to be read without a click: why it does not go on, and what is to be warned of. */
export function notesOf(row: AgentRow): readonly string[] {
  const waits = row.life === 'healing' || row.life === 'launching';
  const isTold = row.detail !== '' && (isStuck(row) || (waits && !isRung(row.detail)));
  return [...(isTold ? [row.detail] : []), ...row.warnings];
}

/** One word about healing, and no sentence. */
function isRung(detail: string): boolean {
  return detail !== '' && !detail.includes(' ');
}
