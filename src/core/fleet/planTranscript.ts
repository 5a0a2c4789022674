import type { TranscriptEffect } from './effects.ts';
import { type Agent, runningLaunch } from './agent.ts';

/** In milliseconds: from a prompt to the look for its transcript, and between two looks for one that is missing. */
const lookAfter = { prompt: 30_000, missing: 60_000 } as const;

/** A look for the transcript of a conversation that took a prompt and is not known to be written. */
export function planTranscript(
  agent: Agent,
  now: number,
): { readonly effects: readonly TranscriptEffect[]; readonly wakeAt?: number } {
  const { name, session } = agent;
  if (session?.unsaved === undefined || runningLaunch(agent) === undefined) return { effects: [] };
  const { since, missingAt, path } = session.unsaved;
  const wakeAt = missingAt === undefined ? since + lookAfter.prompt : missingAt + lookAfter.missing;
  if (now < wakeAt) return { effects: [], wakeAt };
  const id = `transcript:${session.id}:${wakeAt}`;
  return { effects: [{ kind: 'transcript', id, name, sessionId: session.id, path }] };
}
