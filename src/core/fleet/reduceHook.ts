import type { HookFact } from '../claude/facts.ts';
import { without } from './agentUpdate.ts';
import { afterTurn } from './poison.ts';
import type { Activity, Agent, SessionRecord } from './agent.ts';
import type { Launch, OtherStart } from './life.ts';

const lineageKept = 50;

/**
 * Folds what a hook of the current launch told: conversation and activity. `at` is the time of occurrence, not of
 * arrival: an older report never replaces a newer one.
 */
export function reduceHook(agent: Agent, launch: Launch, hook: HookFact, at: number): Agent {
  const withSession = reduceSession(agent, launch, hook, at);
  const activity = activityAfter(agent.activity, hook, at);
  return activity === agent.activity ? withSession : { ...withSession, activity };
}

function reduceSession(agent: Agent, launch: Launch, hook: HookFact, at: number): Agent {
  const { session } = agent;
  // The end of a conversation never makes it the current one: a failed resume ends one that was never wanted.
  if (hook.event === 'SessionEnd' && session?.id !== hook.sessionId) return agent;
  // The latest by occurrence is current, whatever order the reports arrive in.
  if (session !== undefined && at < session.reportedAt && session.launchId === launch.id) return agent;
  if (session?.id === hook.sessionId) return { ...agent, session: progressed(session, launch, hook, at) };
  const started: SessionRecord = {
    id: hook.sessionId,
    launchId: launch.id,
    cause: causeOf(launch, hook),
    since: at,
    reportedAt: at,
    // What is resumed has a transcript, and so has taken a prompt.
    prompted: hook.event === 'SessionStart' && hook.source === 'resume' && hook.transcriptExists,
    turnsCompleted: agent.lineage.findLast(({ id }) => id === hook.sessionId)?.turnsCompleted ?? 0,
  };
  const lineage = session === undefined ? agent.lineage : [...agent.lineage, session].slice(-lineageKept);
  return { ...agent, lineage, session: progressed(started, launch, hook, at) };
}

/** From the first prompt on a conversation has a transcript; the hook of that prompt may run before. */
function withTranscript(session: SessionRecord, hook: HookFact, at: number): SessionRecord {
  if (hook.transcriptExists) return session.unsaved === undefined ? session : without(session, 'unsaved');
  const takes = hook.event === 'UserPromptSubmit' || hook.event === 'Stop' || hook.event === 'StopFailure';
  if (!takes || session.unsaved !== undefined || hook.transcriptPath === undefined) return session;
  return { ...session, unsaved: { since: at, path: hook.transcriptPath } };
}

/** Claude knows nothing of a copy that it is told to resume. */
function causeOf(launch: Launch, hook: HookFact): string {
  if (launch.forkOf !== undefined && hook.sessionId === launch.expectedSessionId) return 'fork';
  return hook.event === 'SessionStart' ? (hook.source ?? 'startup') : 'rotated';
}

/** Words of SessionStart for a conversation that follows from the one before. */
const successions: readonly (string | undefined)[] = ['clear', 'fork', 'compact'];

/**
 * Whether a hook tells of the conversation that the launch must bring back, or of one that followed from it. A resume is
 * told by two start hooks in some versions: `resume` with the right id, and `startup` with an id that has no transcript.
 */
export function belongs(agent: Agent, launch: Launch, hook: HookFact): boolean {
  if (launch.mode !== 'resume' || hook.sessionId === launch.expectedSessionId) return true;
  const isStart = hook.event === 'SessionStart';
  if (isStart && successions.includes(hook.source)) return true;
  // Once the right one was told, the person at the terminal may go where they like.
  const { session } = agent;
  if (session?.launchId !== launch.id) return false;
  return !isStart || hook.transcriptExists || hook.sessionId === session.id;
}

/** The agent after a hook that does not belong: noted until the right one is told, and never its conversation. */
export function strayed(agent: Agent, launch: Launch, hook: HookFact): Agent {
  if (hook.event !== 'SessionStart' || agent.session?.launchId === launch.id) return agent;
  const { life } = agent;
  const otherStart: OtherStart = { sessionId: hook.sessionId, transcript: hook.transcriptExists ? 'there' : 'missing' };
  const isNews = (known: { readonly confirmedAt?: number; readonly otherStart?: OtherStart }): boolean =>
    known.confirmedAt === undefined && known.otherStart?.transcript !== 'there';
  if (life.kind === 'launching' && isNews(life)) return { ...agent, life: { ...life, otherStart } };
  if (life.kind !== 'running' || !isNews(life.running)) return agent;
  return { ...agent, life: { kind: 'running', running: { ...life.running, otherStart } } };
}

function progressed(session: SessionRecord, launch: Launch, hook: HookFact, at: number): SessionRecord {
  const turnEnded = hook.event === 'Stop' || hook.event === 'StopFailure';
  return {
    ...afterTurn(withTranscript(session, hook, at), hook, at),
    launchId: launch.id,
    reportedAt: at,
    ...(hook.transcriptPath !== undefined && { transcriptPath: hook.transcriptPath }),
    prompted: session.prompted || hook.event === 'UserPromptSubmit' || turnEnded,
    turnsCompleted: session.turnsCompleted + (turnEnded ? 1 : 0),
  };
}

function activityAfter(activity: Activity, hook: HookFact, at: number): Activity {
  if (at < activity.since) return activity;
  const base = { since: at, source: 'hook' } as const;
  const lastWorkAt = activity.lastWorkAt === undefined ? {} : { lastWorkAt: activity.lastWorkAt };
  switch (hook.event) {
    case 'SessionStart':
      return { ...base, ...lastWorkAt, kind: 'idle' };
    case 'UserPromptSubmit':
      return { ...base, kind: 'busy', lastWorkAt: at };
    case 'Stop':
    case 'StopFailure':
      return { ...base, kind: 'idle', lastWorkAt: at };
    case 'Notification':
      if (hook.waitingFor === undefined) return activity;
      return {
        ...base,
        ...lastWorkAt,
        kind: hook.waitingFor === 'permission' ? 'waiting for permission' : 'waiting for input',
      };
    case 'SessionEnd':
    case 'other':
      return activity;
  }
}
