import { without } from './agentUpdate.ts';
import type { Agent } from './agent.ts';
import type { Launch } from './life.ts';

/**
 * The agent once this launch is asked for. A fresh one gives its conversation up, so that nothing goes back to it by
 * itself, however this launch ends; one that resumes it takes that back.
 */
export function afterRequest(agent: Agent, launch: Launch): Agent {
  const { session, life } = agent;
  if (session === undefined) return agent;
  if (launch.mode === 'resume') {
    return launch.expectedSessionId === session.id ? { ...agent, session: without(session, 'givenUp') } : agent;
  }
  if (!session.prompted || session.givenUp !== undefined) return agent;
  const why = life.kind === 'blocked' && life.reason === 'resume failed' ? life.reason : 'fresh restart';
  return { ...agent, session: { ...session, givenUp: { at: launch.requestedAt, why } } };
}

/** This launch was called off, or could not start beside a process that goes on: what it gave up counts again. */
export function withKeptConversation(agent: Agent, launch: Launch): Agent {
  const { session } = agent;
  return session?.givenUp?.at === launch.requestedAt ? { ...agent, session: without(session, 'givenUp') } : agent;
}

/** What an older conversation saved was handed to the one of this fresh launch, which has saved nothing itself. */
export function withCarriedContext(agent: Agent, launch: Launch): Agent {
  const { savedContext } = agent;
  if (launch.mode !== 'fresh' || savedContext === undefined || savedContext.launchId === launch.id) return agent;
  return { ...agent, savedContext: { ...savedContext, origin: 'carried' } };
}
