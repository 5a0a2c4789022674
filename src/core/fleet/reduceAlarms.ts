import type { Reduction } from './agentUpdate.ts';
import type { FleetEvent } from './events.ts';
import { cleared } from './poison.ts';
import type { Agent } from './state.ts';

type AlarmEvent = Extract<FleetEvent, { kind: 'conversation released' }>;

/** Folds what endangers a conversation, and what a person decided about it. */
export function reduceAlarms(agent: Agent, event: AlarmEvent): Reduction {
  const { session } = agent;
  if (session?.id !== event.sessionId || session.quarantine === undefined) return { agent };
  return {
    agent: { ...agent, session: cleared(session, event.at) },
    timeline: [{ at: event.at, text: `goes on in its poisoned conversation, as ${event.by} chose` }],
  };
}
