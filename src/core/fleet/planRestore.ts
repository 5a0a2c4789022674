import { agentOf, type FleetState, type Restoration } from './state.ts';
import type { FleetEvent } from './events.ts';
import { resumeOrFresh } from './launching.ts';
import { openRestoration, restoreProgress } from './restore.ts';

/** So many agents are started by a restoration at a time. */
const restoredAtOnce = 3;

/**
 * Starts the agents of a restoration, a few at a time, each after the launch of another one is verified or needs a person;
 * ends it when all are through. What is under way when it is called off is stopped.
 */
export function planRestore(state: FleetState, now: number): readonly FleetEvent[] {
  const { restoration } = state;
  if (restoration === undefined) return [];
  if (openRestoration(state) === undefined) return stopCalledOff(state, restoration, now);
  const { id } = restoration;
  const { waiting, underWay } = restoreProgress(state, restoration);
  if (waiting.length + underWay.length === 0) return [{ at: now, kind: 'restore ended', id, outcome: 'done' }];
  const room = Math.max(0, restoredAtOnce - underWay.length);
  return waiting.slice(0, room).flatMap((name): readonly FleetEvent[] => {
    const agent = agentOf(state, name);
    if (agent === undefined) return [];
    const launch = { ...resumeOrFresh(agent, now), cause: 'restore', restoration: id } as const;
    return [{ at: now, kind: 'launch requested', name, launch }];
  });
}

function stopCalledOff(state: FleetState, restoration: Restoration, now: number): readonly FleetEvent[] {
  const left = restoration.ended?.left ?? [];
  return restoreProgress(state, restoration)
    .underWay.filter((name) => left.includes(name))
    .map((name) => ({ at: now, kind: 'stop requested', name, reason: 'released', then: 'keep' }));
}
