import { type Reduction, without } from './agentUpdate.ts';
import type { Agent } from './agent.ts';
import type { FleetEvent } from './events.ts';

/** What an agent begins with that takes a conversation over from another process. */
export function adopted({
  at,
  asker,
  adopts,
}: Extract<FleetEvent, { kind: 'agent created' }>): Pick<Agent, 'session' | 'adoption'> {
  if (adopts === undefined) return {};
  const { pid, startTime, sessionId: id, transcriptPath } = adopts;
  return {
    session: {
      ...{ id, launchId: '', cause: 'adopted', since: at, reportedAt: at },
      ...{ transcriptPath, prompted: true, turnsCompleted: 0 },
    },
    adoption: { pid, startTime, by: asker ?? 'gateway' },
  };
}

/** Where an adoption succeeds its last step is the request of the first launch instead. */
export function adoptionEnded(agent: Agent, event: Extract<FleetEvent, { kind: 'adoption ended' }>): Reduction {
  const { at, detail } = event;
  if (agent.adoption === undefined) return { agent };
  const { life } = agent;
  const next = without(agent, 'adoption');
  return {
    agent: life.kind === 'stopped' ? { ...next, life: { kind: 'stopped', at, detail } } : next,
    timeline: [{ at, text: `adoption ended: ${detail}` }],
  };
}
