import type { Agent, Launch } from './state.ts';

/**
 * The launch that brings the agent back: `resume` by exact id, or `fresh` where no conversation ever took a prompt and so
 * no transcript exists (spec, Strict resume). The id is unique in the agent's life.
 */
export function resumeOrFresh(agent: Agent, now: number): Omit<Launch, 'cause'> {
  const { session } = agent;
  if (session?.prompted !== true) return { id: launchId(agent, now), mode: 'fresh', requestedAt: now };
  return { id: launchId(agent, now), mode: 'resume', expectedSessionId: session.id, requestedAt: now };
}

/** A launch without the conversation. */
export function freshLaunch(agent: Agent, now: number): Omit<Launch, 'cause'> {
  return { id: launchId(agent, now), mode: 'fresh', requestedAt: now };
}

function launchId(agent: Agent, now: number): string {
  return `${agent.name}.${agent.launchCount + 1}.${now.toString(36)}`;
}
