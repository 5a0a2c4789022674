import type { FleetEvent } from './events.ts';
import { openRestoration, restoreProgress } from './restore.ts';
import type { FleetState } from './state.ts';

/** Begins a restoration, or adds agents to the one that is under way. */
export function restoreRequested(
  state: FleetState,
  { at, id, by, agents }: Extract<FleetEvent, { kind: 'restore requested' }>,
): FleetState {
  const open = openRestoration(state);
  if (open === undefined) {
    if (agents.length === 0 || state.restoration?.id === id) return state;
    return { ...state, restoration: { id, askedAt: at, by, agents } };
  }
  const more = agents.filter((name) => !open.agents.includes(name));
  if (open.id !== id || more.length === 0) return state;
  return { ...state, restoration: { ...open, agents: [...open.agents, ...more] } };
}

/** Who is not up when it is called off stays to be restored. */
export function restoreEnded(
  state: FleetState,
  { at, id, outcome }: Extract<FleetEvent, { kind: 'restore ended' }>,
): FleetState {
  const open = openRestoration(state);
  if (open?.id !== id) return state;
  const { waiting, underWay } = restoreProgress(state, open);
  const left = [...underWay, ...waiting];
  return { ...state, restoration: { ...open, ended: { at, outcome, left } } };
}
