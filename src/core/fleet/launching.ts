import type { Agent } from './agent.ts';
import type { Launch, LaunchMode } from './life.ts';

/**
 * The launch that brings the agent back: `resume` by exact id, or `fresh` where no conversation ever took a prompt and so
 * no transcript exists (spec, Strict resume), or where it was given up and no other has begun since (force fresh once).
 * The id is unique in the agent's life.
 */
export function resumeOrFresh(agent: Agent, now: number): Omit<Launch, 'cause'> {
  const { session } = agent;
  if (session?.prompted !== true || session.givenUp !== undefined) return freshLaunch(agent, now);
  return resumeOf(agent, session.id, now);
}

/** The first launch of an agent of this name, which is not there yet. */
export function firstLaunch(name: string, now: number): Launch {
  return { ...freshLaunch({ name, launchCount: 0 }, now), cause: 'person' };
}

/** The launch that a restart of this kind asks for. */
export function nextLaunch(agent: Agent, mode: LaunchMode, now: number): Omit<Launch, 'cause'> {
  return mode === 'fresh' ? freshLaunch(agent, now) : resumeOrFresh(agent, now);
}

/** A launch without the conversation. */
export function freshLaunch(agent: Pick<Agent, 'name' | 'launchCount'>, now: number): Omit<Launch, 'cause'> {
  return { id: launchId(agent, now), mode: 'fresh', requestedAt: now };
}

/** A launch with a conversation that a person chose. */
export function resumeOf(agent: Agent, expectedSessionId: string, now: number): Omit<Launch, 'cause'> {
  return { id: launchId(agent, now), mode: 'resume', expectedSessionId, requestedAt: now };
}

function launchId(agent: Pick<Agent, 'name' | 'launchCount'>, now: number): string {
  return `${agent.name}.${agent.launchCount + 1}.${now.toString(36)}`;
}
