import type { AgentRow, FleetView } from '../core/fleet/select.ts';
import type { ProbeHistory } from '../protocol/webview.ts';
import type { Subject } from './detailsElement.ts';
import { isTroubled, type Place } from './matrix.ts';
import type { PageState } from './pageState.ts';

/** Whose details are shown: what the person chose, and where there is one agent only, that one. */
export function selectedPlace(chosen: PageState['selected'], rows: readonly AgentRow[]): Place | undefined {
  if (chosen === 'nothing') return undefined;
  if (chosen !== undefined && rows.some(({ name }) => name === chosen.agent)) return chosen;
  const [only] = rows;
  if (only === undefined || rows.length > 1) return undefined;
  const endpoint = only.endpoints.find(({ state }) => isTroubled(state)) ?? only.endpoints[0];
  return { agent: only.name, ...(endpoint !== undefined && { server: endpoint.server }) };
}

/** Everything that is known of a place; undefined where its agent is gone. */
export function subjectAt(
  { agent, server }: Place,
  rows: readonly AgentRow[],
  view: FleetView,
  probes: ProbeHistory | undefined,
): Subject | undefined {
  const row = rows.find(({ name }) => name === agent);
  if (row === undefined) return undefined;
  const blackout = view.blackouts.find(({ agents }) => agents.includes(agent));
  const isWatched = probes?.agent === agent && probes.server === server;
  return {
    row,
    ...(server !== undefined && { server }),
    ...(blackout !== undefined && { blackout }),
    probes: isWatched ? probes.probes : [],
    events: view.timeline.filter((entry) => entry.agent === undefined || entry.agent === agent),
  };
}

export function isSamePlace(one: Place | undefined, other: Place | undefined): boolean {
  return one?.agent === other?.agent && one?.server === other?.server;
}
