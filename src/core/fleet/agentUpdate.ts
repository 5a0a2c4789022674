import type { Agent } from './agent.ts';
import { agentOf, type FleetState, type TimelineEntry } from './state.ts';

/** What a reducer of one agent returns: the agent (the same object: nothing changed), lines for the timeline, or its removal. */
export interface Reduction {
  readonly agent: Agent | 'removed';
  readonly timeline?: readonly Omit<TimelineEntry, 'agent'>[];
}

const timelineKept = 400;

/** The state with more lines at the end of its timeline. */
export function withTimeline(state: FleetState, added: readonly TimelineEntry[]): FleetState {
  return added.length === 0 ? state : { ...state, timeline: [...state.timeline, ...added].slice(-timelineKept) };
}

/** Applies a reducer to one agent. An unknown name or an unchanged agent returns the same state. */
export function updateAgent(state: FleetState, name: string, change: (agent: Agent) => Reduction): FleetState {
  const agent = agentOf(state, name);
  if (agent === undefined) return state;
  const { agent: next, timeline = [] } = change(agent);
  if (next === agent) return state;
  const agents = next === 'removed' ? without(state.agents, name) : { ...state.agents, [name]: next };
  return withTimeline(
    { ...state, agents },
    timeline.map((entry) => ({ ...entry, agent: name })),
  );
}

/** The object without one key; the type of the rest is kept. */
export function without<T extends object, K extends keyof T>(value: T, key: K): Omit<T, K> {
  const { [key]: _dropped, ...rest } = value;
  return rest;
}
