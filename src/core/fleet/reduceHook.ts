import type { HookFact } from '../claude/facts.ts';
import { without } from './agentUpdate.ts';
import { afterTurn } from './poison.ts';
import type { Activity, Agent, SessionRecord } from './agent.ts';
import type { Launch, OtherStart } from './life.ts';

const lineageKept = 50;

/** Reports that wait until it is known what their launch brought back. */
const earlyKept = 16;

/**
 * Folds what a hook of the current launch told: conversation and activity. `at` is the time of occurrence, not of
 * arrival: whatever order the reports come in, the state is the same.
 */
export function reduceHook(agent: Agent, launch: Launch, hook: HookFact, at: number): Agent {
  const withSession = reduceSession(agent, launch, hook, at);
  const activity = activityAfter(agent.activity, hook, at);
  return activity === agent.activity ? withSession : { ...withSession, activity };
}

function reduceSession(agent: Agent, launch: Launch, hook: HookFact, at: number): Agent {
  const { session } = agent;
  // The end of a conversation never makes it the current one: a failed resume ends one that was never wanted.
  if (hook.event === 'SessionEnd') return agent;
  if (session?.launchId === launch.id && isOlder(hook, at, session))
    return reduceLate(agent, session, launch, hook, at);
  if (session?.id === hook.sessionId) return { ...agent, session: progressed(session, launch, hook, at) };
  const started = progressed(begun(agent.lineage, launch, hook, at), launch, hook, at);
  const lineage = session === undefined ? agent.lineage : [...agent.lineage, session].slice(-lineageKept);
  return { ...agent, lineage, session: started };
}

/** Two reports of one millisecond have an order, too, so that it does not depend on their arrival. */
function isOlder(hook: HookFact, at: number, session: SessionRecord): boolean {
  return at < session.reportedAt || (at === session.reportedAt && hook.sessionId < session.id);
}

/** What came late never makes another conversation current, but tells more of it, or of one that is missing in the lineage. */
function reduceLate(agent: Agent, session: SessionRecord, launch: Launch, hook: HookFact, at: number): Agent {
  const records = [...agent.lineage, session];
  const isOfLaunch = (record: SessionRecord | undefined): boolean => record?.launchId === launch.id;
  const before = records.findLastIndex((record) => isOfLaunch(record) && record.since <= at);
  const after = before === -1 ? records.findIndex(isOfLaunch) : before + 1;
  const index = [before, after].find((one) => isOfLaunch(records[one]) && records[one]?.id === hook.sessionId);
  const known = index === undefined ? undefined : records[index];
  if (index === undefined || known === undefined) {
    const place = Math.min(after, records.length - 1);
    records.splice(place, 0, progressed(begun(records.slice(0, place), launch, hook, at), launch, hook, at));
  } else records[index] = withLate(known, launch, hook, at);
  return { ...agent, lineage: records.slice(0, -1).slice(-lineageKept), session: records.at(-1) ?? session };
}

function withLate(record: SessionRecord, launch: Launch, hook: HookFact, at: number): SessionRecord {
  const known = hook.transcriptExists ? without(record, 'unsaved') : record;
  const path = record.transcriptPath ?? hook.transcriptPath;
  // Failed turns count by the transcript, which is read at each resume.
  return {
    ...known,
    ...(at < record.since && { since: at, cause: causeOf(launch, hook) }),
    reportedAt: Math.max(record.reportedAt, at),
    ...(path !== undefined && { transcriptPath: path }),
    prompted: record.prompted || takesPrompt(hook) || isResumed(hook),
    turnsCompleted: record.turnsCompleted + (endsTurn(hook) ? 1 : 0),
  };
}

function begun(lineage: readonly SessionRecord[], launch: Launch, hook: HookFact, at: number): SessionRecord {
  return {
    id: hook.sessionId,
    launchId: launch.id,
    cause: causeOf(launch, hook),
    since: at,
    reportedAt: at,
    prompted: isResumed(hook),
    turnsCompleted: lineage.findLast(({ id }) => id === hook.sessionId)?.turnsCompleted ?? 0,
  };
}

/** What is resumed has a transcript, and so has taken a prompt. */
function isResumed(hook: HookFact): boolean {
  return hook.event === 'SessionStart' && hook.source === 'resume' && hook.transcriptExists;
}

function endsTurn({ event }: HookFact): boolean {
  return event === 'Stop' || event === 'StopFailure';
}

function takesPrompt(hook: HookFact): boolean {
  return hook.event === 'UserPromptSubmit' || endsTurn(hook);
}

/** From the first prompt on a conversation has a transcript; the hook of that prompt may run before. */
function withTranscript(session: SessionRecord, hook: HookFact, at: number): SessionRecord {
  if (hook.transcriptExists) return session.unsaved === undefined ? session : without(session, 'unsaved');
  if (!takesPrompt(hook) || session.unsaved !== undefined || hook.transcriptPath === undefined) return session;
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

/**
 * The agent after a hook that does not belong: never its conversation, noted until the right one is told, and kept until
 * then, because the right one may be on its way and make it belong.
 */
export function strayed(agent: Agent, launch: Launch, hook: HookFact, at: number): Agent {
  if (hook.event === 'SessionEnd' || isTold(agent, launch)) return agent;
  const waiting = (agent.earlyHooks ?? []).filter(({ launchId }) => launchId === launch.id);
  const kept = { ...agent, earlyHooks: [...waiting, { at, launchId: launch.id, hook }].slice(-earlyKept) };
  if (hook.event !== 'SessionStart' || agent.session?.launchId === launch.id) return kept;
  const { life } = agent;
  const otherStart: OtherStart = { sessionId: hook.sessionId, transcript: hook.transcriptExists ? 'there' : 'missing' };
  const isNews = (known: { readonly confirmedAt?: number; readonly otherStart?: OtherStart }): boolean =>
    known.confirmedAt === undefined && known.otherStart?.transcript !== 'there';
  if (life.kind === 'launching' && isNews(life)) return { ...kept, life: { ...life, otherStart } };
  if (life.kind !== 'running' || !isNews(life.running)) return kept;
  return { ...kept, life: { kind: 'running', running: { ...life.running, otherStart } } };
}

/** Whether a hook of this launch told the conversation that it was to bring back. */
function isTold({ session, lineage }: Agent, launch: Launch): boolean {
  const isRight = (record: SessionRecord | undefined): boolean =>
    record?.launchId === launch.id && record.id === launch.expectedSessionId;
  return isRight(session) || lineage.some(isRight);
}

function progressed(session: SessionRecord, launch: Launch, hook: HookFact, at: number): SessionRecord {
  return {
    ...afterTurn(withTranscript(session, hook, at), hook, at),
    launchId: launch.id,
    reportedAt: at,
    ...(hook.transcriptPath !== undefined && { transcriptPath: hook.transcriptPath }),
    prompted: session.prompted || takesPrompt(hook),
    turnsCompleted: session.turnsCompleted + (endsTurn(hook) ? 1 : 0),
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
