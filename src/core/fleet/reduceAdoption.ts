import { type Reduction, without } from './agentUpdate.ts';
import type { Agent } from './agent.ts';
import type { FleetEvent } from './events.ts';

type AdoptionEvent = Extract<FleetEvent, { kind: 'adoption acted' | 'adoption ended' }>;

/** What an agent begins with that takes a conversation over from another process. */
export function adopted({
  at,
  asker,
  adopts,
}: Extract<FleetEvent, { kind: 'agent created' }>): Pick<Agent, 'session' | 'adoption'> {
  if (adopts === undefined) return {};
  const { pid, processStart, sessionId: id, transcriptPath } = adopts;
  return {
    session: {
      ...{ id, launchId: '', cause: 'adopted', since: at, reportedAt: at },
      ...{ transcriptPath, prompted: true, turnsCompleted: 0 },
    },
    adoption: { pid, processStart, by: asker ?? 'gateway' },
  };
}

/** Folds a step of an adoption. Its last one is the request of the first launch. */
export function reduceAdoption(agent: Agent, event: AdoptionEvent): Reduction {
  const { adoption, life } = agent;
  if (adoption === undefined) return { agent };
  const { at } = event;
  switch (event.kind) {
    case 'adoption acted':
      if (adoption.pid !== event.pid || adoption.signalledAt !== undefined) return { agent };
      return { agent: { ...agent, adoption: { ...adoption, signalledAt: at } } };
    case 'adoption ended': {
      const { detail } = event;
      const next = without(agent, 'adoption');
      return {
        agent: life.kind === 'stopped' ? { ...next, life: { kind: 'stopped', at, detail } } : next,
        timeline: [{ at, text: `adoption ended: ${detail}` }],
      };
    }
  }
}
