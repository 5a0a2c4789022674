import { type Agent, runningLaunch } from '../fleet/agent.ts';
import type { LaunchMode, ScreenShows } from '../fleet/life.ts';

/** Why a restart is allowed or not: exactly one reason. The save reasons stand in the order in which they are looked at. */
export type GuardReason =
  | 'ok'
  | 'not running'
  | 'no completed turn'
  | 'turn in progress'
  | 'waiting for permission'
  | 'unsent input'
  | 'missing context'
  | 'missing explicit save'
  | 'different session'
  | 'save too old';

/** The restart guard's answer (spec, Restart guard). */
export interface Verdict {
  readonly allowed: boolean;
  readonly reason: GuardReason;
  /** A save reason that would block, let through because the agent can not: its tools are gone, or each turn of it fails. */
  readonly downgraded: 'tools unreachable' | 'cannot save' | 'no';
  /** Seconds by which the last work trails the save; absent without a save. */
  readonly saveTrailsBySeconds?: number;
  /** Seconds since the save; absent without one. */
  readonly saveAgeSeconds?: number;
  /** Whether the saved context is older than 12 h. */
  readonly context: 'none' | 'usable' | 'stale';
  /** Whether the hands looked at the screen for it; else nobody knows of unsent input. */
  readonly screen: 'looked at' | 'not looked at';
  /** One sentence for the person. */
  readonly wouldBeLost: string;
}

export const guardTimes = { saveTrailsAtMost: 300_000, contextStaleAfter: 12 * 3600_000, lookCounts: 5_000 } as const;

/** Judges a restart of `agent`. `tools` tells whether the agent could reach save_my_context now. */
export function judgeRestart(agent: Agent, mode: LaunchMode, tools: 'reachable' | 'unreachable', now: number): Verdict {
  const save = agent.savedContext;
  const trails = save === undefined ? undefined : Math.max(0, (agent.activity.lastWorkAt ?? 0) - save.at);
  const shows = screenOf(agent, now);
  const numbers = {
    ...(save !== undefined && { saveAgeSeconds: Math.round((now - save.at) / 1000) }),
    ...(trails !== undefined && { saveTrailsBySeconds: Math.round(trails / 1000) }),
    context: save === undefined ? 'none' : now - save.at > guardTimes.contextStaleAfter ? 'stale' : 'usable',
    screen: shows === undefined ? 'not looked at' : 'looked at',
  } as const;
  const answer = (reason: GuardReason, allowed: boolean, downgraded: Verdict['downgraded'] = 'no'): Verdict => ({
    allowed,
    reason,
    downgraded,
    ...numbers,
    wouldBeLost: wouldBeLost(reason, mode),
  });
  if (agent.life.kind !== 'running') return answer('not running', true);
  if (agent.activity.kind === 'busy') return answer('turn in progress', false);
  if (agent.activity.kind === 'waiting for permission' || shows === 'permission') {
    return answer('waiting for permission', false);
  }
  if (shows === 'unsent input') return answer('unsent input', false);
  if (mode === 'resume') return answer('ok', true);
  if (!hasCompletedTurn(agent)) return answer('no completed turn', true);
  const reason = saveReason(agent, trails);
  if (reason === 'ok') return answer('ok', true);
  if (tools === 'unreachable') return answer(reason, true, 'tools unreachable');
  return agent.session?.quarantine === undefined ? answer(reason, false) : answer(reason, true, 'cannot save');
}

/** A conversation that began elsewhere, or that goes on from another one, may hold turns that Bowline did not see. */
function hasCompletedTurn({ session }: Agent): boolean {
  if (session === undefined) return false;
  const beganHere = session.cause === 'startup' || session.cause === 'clear';
  return session.turnsCompleted > 0 || (session.prompted && !beganHere);
}

/** What the hands saw on its screen a moment ago. */
function screenOf(agent: Agent, now: number): ScreenShows | undefined {
  const seen = runningLaunch(agent)?.look?.seen;
  return seen !== undefined && now - seen.at <= guardTimes.lookCounts ? seen.shows : undefined;
}

function saveReason(agent: Agent, trails: number | undefined): GuardReason {
  const save = agent.savedContext;
  if (save === undefined || trails === undefined) return 'missing context';
  if (save.origin !== 'explicit') return 'missing explicit save';
  if (agent.session !== undefined && save.sessionId !== agent.session.id) return 'different session';
  return trails >= guardTimes.saveTrailsAtMost ? 'save too old' : 'ok';
}

function wouldBeLost(reason: GuardReason, mode: LaunchMode): string {
  switch (reason) {
    case 'turn in progress':
      return mode === 'resume' ? 'The turn in progress is cut off.' : 'The turn in progress and the conversation.';
    case 'waiting for permission':
      return 'The question that waits for an answer, and the tool call behind it.';
    case 'unsent input':
      return 'What stands unsent in its input line.';
    case 'missing context':
    case 'missing explicit save':
      return 'Everything in the conversation: the agent saved no context. The transcript file stays.';
    case 'different session':
      return 'Everything since the last save, which belongs to an older conversation. The transcript file stays.';
    case 'save too old':
      return 'What was worked on since the last save. The transcript file stays.';
    case 'ok':
      return mode === 'resume' ? 'Nothing: the conversation is resumed.' : 'The conversation; its saved context stays.';
    case 'not running':
    case 'no completed turn':
      return 'Nothing.';
  }
}
