import { causeText } from '../binding/causes.ts';
import type { UnboundCause } from '../binding/health.ts';
import { dialsAgainWhenCalled } from '../claude/version.ts';
import { resumeOrFresh } from '../fleet/launching.ts';
import { poisonSentence } from '../fleet/poison.ts';
import { type Agent, currentLaunch, liveLaunches } from '../fleet/agent.ts';
import type { FleetState } from '../fleet/state.ts';
import type { HealingAttempt, Incident } from './incident.ts';
import { saveToolOf } from '../guard/saveTool.ts';
import { judgeRestart } from '../guard/verdict.ts';
import { healingTimes, type Situation, type StartedRung } from './ladder.ts';
import { restartLimits } from './restartLimits.ts';

/** Gathers what the next move at an endpoint is decided by. */
export function situationOf(
  state: FleetState,
  agent: Agent,
  server: string,
  incident: Incident,
  cause: UnboundCause,
  now: number,
): Situation {
  const { mend, nextStep } = causeText(cause);
  const tools = saveToolOf(agent, state.epoch, now);
  const attempts = incident.attempts.filter(({ startedAt }) => startedAt >= (incident.reopenedAt ?? 0));
  return {
    cause: mend === 'person' ? 'configuration' : 'lost',
    nextStep,
    policy: agent.configuration.healing ?? state.settings.healing,
    askedBy: incident.reopenedAt === undefined ? 'nobody' : 'person',
    end: incident.end?.reason,
    failed: failures(agent, attempts),
    useless: uselessRungs(state, agent, server, attempts, now),
    retryAt: putOffUntil(attempts),
    hands: state.hands === undefined ? 'nobody' : 'there',
    activity: agent.activity.kind,
    guard: {
      resume: judgeRestart(agent, 'resume', tools, now),
      fresh: judgeRestart(agent, 'fresh', tools, now),
    },
    restarts: restartLimits(state, agent, now, incident.reopenedAt),
  };
}

/**
 * What becomes of a reconnect that a person asked for and that was put off: it is tried again whatever the health is, as
 * soon as it can be, for a while. Undefined: there is none.
 */
export function putOffByPerson(
  agent: Agent,
  incident: Incident,
  now: number,
): { readonly kind: 'again' } | { readonly kind: 'wait'; readonly until: number } | PutOffTooLong | undefined {
  const last = incident.attempts.at(-1);
  if (last?.by !== 'person' || last.outcome !== 'put off' || agent.life.kind !== 'running') return undefined;
  const earlier = incident.attempts.findLastIndex(({ by, outcome }) => by !== 'person' || outcome !== 'put off');
  const until = (incident.attempts[earlier + 1]?.startedAt ?? last.startedAt) + healingTimes.personWaits;
  if (now >= until) return { kind: 'too long', detail: last.detail ?? '' };
  const retryAt = putOffUntil(incident.attempts);
  if (now < retryAt) return { kind: 'wait', until: retryAt };
  return agent.activity.kind === 'idle' ? { kind: 'again' } : { kind: 'wait', until };
}

export interface PutOffTooLong {
  readonly kind: 'too long';
  /** What was in the way last. */
  readonly detail: string;
}

/** The mild rungs count anew for each launch that a person asked for; restarts count until the endpoint is bound again. */
function failures(agent: Agent, attempts: readonly HealingAttempt[]): Readonly<Record<StartedRung, number>> {
  const asked = [...agent.launches.map(({ launch }) => launch), ...liveLaunches(agent)]
    .filter(({ cause }) => cause !== 'healing')
    .map(({ requestedAt }) => requestedAt);
  const since = Math.max(0, ...asked);
  const count = (rung: StartedRung, from: number): number =>
    attempts.filter((one) => one.rung === rung && one.outcome === 'failed' && one.startedAt >= from).length;
  return {
    nudge: count('nudge', since),
    reconnect: count('reconnect', since),
    resume: count('resume', 0),
    fresh: count('fresh', 0),
  };
}

function uselessRungs(
  state: FleetState,
  agent: Agent,
  server: string,
  attempts: readonly HealingAttempt[],
  now: number,
): readonly StartedRung[] {
  const isFreshAnyway = resumeOrFresh(agent, now).mode === 'fresh';
  const hasFailedFresh = attempts.some(({ rung, outcome }) => rung === 'fresh' && outcome === 'failed');
  return [
    ...(canBeNudged(state, agent, server) ? [] : (['nudge'] as const)),
    ...(asksAtOldPort(state, agent) ? (['reconnect'] as const) : []),
    // Each turn in it fails, or nothing is to be resumed and a fresh restart did not help.
    ...(poisonSentence(agent) !== undefined || (isFreshAnyway && hasFailedFresh) ? (['resume'] as const) : []),
  ];
}

/** It must have a stream that can be dropped, and be of a version that opens a new one each time. */
function canBeNudged(state: FleetState, agent: Agent, server: string): boolean {
  const { stream, client, launchId } = agent.bindings[server] ?? {};
  if (stream?.kind !== 'open' || stream.epoch !== state.epoch?.id || launchId !== currentLaunch(agent)?.id)
    return false;
  return client?.name === 'claude-code' && !dialsAgainWhenCalled(client.version);
}

/** A reconnect would use the address that the process was started with, and a stranger may be there. */
function asksAtOldPort(state: FleetState, agent: Agent): boolean {
  const { portSince } = state.epoch ?? {};
  const launch = currentLaunch(agent);
  return portSince !== undefined && launch !== undefined && launch.requestedAt < portSince;
}

function putOffUntil(attempts: readonly HealingAttempt[]): number {
  const last = attempts.at(-1);
  if (last?.outcome !== 'put off' || last.endedAt === undefined) return 0;
  const inARow = attempts.length - 1 - attempts.findLastIndex((attempt) => attempt.outcome !== 'put off');
  return last.endedAt + Math.min(healingTimes.putOffPause * 2 ** (inARow - 1), healingTimes.putOffPauseLimit);
}
