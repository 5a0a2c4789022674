import type { HooksEffect, TranscriptEffect } from './effects.ts';
import { type Agent, runningLaunch } from './agent.ts';

/** In milliseconds: from a prompt to the look for its transcript, and between two looks for one that is missing. */
const lookAfter = { prompt: 30_000, missing: 60_000 } as const;

/**
 * In milliseconds: how much later than the last hook its live-session file must tell of work, and how long a hook may be on
 * its way.
 */
const silence = { tolerance: 5_000, lookAfter: 15_000 } as const;

interface TranscriptPlan {
  readonly effects: readonly (TranscriptEffect | HooksEffect)[];
  readonly wakeAt?: number;
}

/** A look for the transcript of a conversation that took a prompt and is not known to be written. */
export function planTranscript(agent: Agent, now: number): TranscriptPlan {
  const { name, session } = agent;
  if (runningLaunch(agent) === undefined) return { effects: [] };
  if (session?.unsaved === undefined) return planHooksCheck(agent, now);
  const { since, missingAt, path } = session.unsaved;
  const wakeAt = missingAt === undefined ? since + lookAfter.prompt : missingAt + lookAfter.missing;
  if (now < wakeAt) return { effects: [], wakeAt };
  const id = `transcript:${session.id}:${wakeAt}`;
  return { effects: [{ kind: 'transcript', id, name, sessionId: session.id, path }] };
}

/** Its live-session file tells of work after all that hooks told: a look whether they are silent, once for each such sign. */
function planHooksCheck(agent: Agent, now: number): TranscriptPlan {
  const { name, session, activity } = agent;
  const running = runningLaunch(agent);
  if (running === undefined || session?.transcriptPath === undefined) return { effects: [] };
  const toldUntil = session.reportedAt + silence.tolerance;
  const isTold = activity.source !== 'live-session file' || activity.since <= toldUntil;
  if (isTold || activity.since <= (running.hooks?.checkedAt ?? 0)) return { effects: [] };
  const wakeAt = activity.since + silence.lookAfter;
  if (now < wakeAt) return { effects: [], wakeAt };
  const { id: launchId } = running.launch;
  const id = `hooks:${launchId}:${activity.since}`;
  return { effects: [{ kind: 'hooks', id, name, launchId, path: session.transcriptPath, toldUntil }] };
}
