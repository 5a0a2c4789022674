import type { HookFact } from '../claude/facts.ts';
import { afterTurn } from './poison.ts';
import type { Activity, Agent, Launch, SessionRecord } from './state.ts';

const lineageKept = 50;

/**
 * Folds what a hook of the current launch told: conversation and activity. `at` is the time of occurrence, not of
 * arrival: an older report never replaces a newer one.
 */
export function reduceHook(agent: Agent, launch: Launch, hook: HookFact, at: number): Agent {
  const withSession = reduceSession(agent, launch, hook, at);
  if (isForeignStart(agent, launch, hook)) return withSession;
  const activity = activityAfter(agent.activity, hook, at);
  return activity === agent.activity ? withSession : { ...withSession, activity };
}

function reduceSession(agent: Agent, launch: Launch, hook: HookFact, at: number): Agent {
  const { session } = agent;
  if (isForeignStart(agent, launch, hook)) return agent;
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
    prompted: false,
    turnsCompleted: 0,
  };
  const lineage = session === undefined ? agent.lineage : [...agent.lineage, session].slice(-lineageKept);
  return { ...agent, lineage, session: progressed(started, launch, hook, at) };
}

/** Claude knows nothing of a copy that it is told to resume. */
function causeOf(launch: Launch, hook: HookFact): string {
  if (launch.forkOf !== undefined && hook.sessionId === launch.expectedSessionId) return 'fork';
  return hook.event === 'SessionStart' ? (hook.source ?? 'startup') : 'rotated';
}

/**
 * A resume is told by two start hooks in some versions: `resume` with the right id, and `startup` with an id that has
 * no transcript. The id whose transcript exists wins.
 */
function isForeignStart(agent: Agent, launch: Launch, hook: HookFact): boolean {
  if (launch.mode !== 'resume' || hook.event !== 'SessionStart') return false;
  const known = hook.sessionId === launch.expectedSessionId || hook.sessionId === agent.session?.id;
  return !known && !hook.transcriptExists && hook.source !== 'clear' && hook.source !== 'fork';
}

function progressed(session: SessionRecord, launch: Launch, hook: HookFact, at: number): SessionRecord {
  const turnEnded = hook.event === 'Stop' || hook.event === 'StopFailure';
  return {
    ...afterTurn(session, hook, at),
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
