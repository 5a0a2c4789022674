import { causeText } from '../binding/causes.ts';
import type { UnboundCause } from '../binding/health.ts';
import {
  type Agent,
  currentLaunch,
  type FleetState,
  type HealingAttempt,
  type HealingPolicy,
  type Incident,
  type IncidentEnd,
} from '../fleet/state.ts';

/** Limits of healing (spec, Healing ladder), in milliseconds and counts. */
export const healingTimes = {
  reconnectTries: 2,
  resumeTries: 1,
  /** From the Enter of `/mcp reconnect` to a proven binding; the client confirms after 0.14 s (measured, both versions). */
  verifyReconnect: 8_000,
  /** How long the hands may take to type before the try counts as put off. */
  actLimit: 15_000,
  verifyResume: 90_000,
  /** A try that was put off (busy screen, a person typing) is made again after this, doubled each time up to the limit. */
  putOffPause: 2_000,
  putOffPauseLimit: 60_000,
  /** How long a reconnect that a person asked for is tried again while something is in the way. */
  personWaits: 600_000,
  /** Between two restarts by healing in the whole fleet. */
  restartEvery: 20_000,
  restartsPerHour: 3,
} as const;

/** The next move for one unbound endpoint. */
export type Move =
  | { readonly kind: 'reconnect' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'end'; readonly end: IncidentEnd }
  | { readonly kind: 'wait'; readonly until?: number };

/** Picks the next rung from what was tried. A rung follows only on a failed one; configuration causes go to a person. */
export function nextMove(state: FleetState, agent: Agent, incident: Incident, cause: UnboundCause, now: number): Move {
  const policy: HealingPolicy = agent.configuration.healing ?? state.settings.healing;
  const isByPerson = policy === 'ask' || policy === 'off';
  // What only the policy held back goes on when that is changed.
  if (incident.end !== undefined && (isByPerson || incident.end.reason !== 'policy')) return { kind: 'wait' };
  if (causeText(cause).mend === 'person') return ask('configuration', causeText(cause).nextStep);
  if (isByPerson) return ask('policy', causeText(cause).nextStep);
  const retryAt = putOffUntil(incident.attempts);
  if (now < retryAt) return { kind: 'wait', until: retryAt };
  const reconnects =
    !asksAtOldPort(state, agent) && failures(incident.attempts, 'reconnect') < healingTimes.reconnectTries;
  if (reconnects || failures(incident.attempts, 'resume') < healingTimes.resumeTries) {
    if (agent.activity.kind !== 'idle') return { kind: 'wait' };
    return reconnects ? { kind: 'reconnect' } : mayRestart(state, agent, now);
  }
  return ask('healing failed', 'Reconnecting and resuming did not help. Force a fresh restart, or look at Show Log.');
}

function ask(reason: IncidentEnd['reason'], detail: string): Move {
  return { kind: 'end', end: { kind: 'asked', reason, detail } };
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

/** The attempt that is under way, if any. */
export function activeAttempt(incident: Incident | undefined): HealingAttempt | undefined {
  const last = incident?.attempts.at(-1);
  return last?.endedAt === undefined ? last : undefined;
}

/** When an attempt that is under way counts as failed. */
export function attemptDeadline(attempt: HealingAttempt): number {
  if (attempt.rung === 'resume') return attempt.startedAt + healingTimes.verifyResume;
  return attempt.actedAt === undefined
    ? attempt.startedAt + healingTimes.actLimit
    : attempt.actedAt + healingTimes.verifyReconnect;
}

function mayRestart(state: FleetState, agent: Agent, now: number): Move {
  const restarts = (one: Agent): readonly number[] =>
    [...one.launches.map((ended) => ended.launch), currentLaunch(one)]
      .filter((launch) => launch?.cause === 'healing')
      .map((launch) => launch?.requestedAt ?? 0);
  const recent = restarts(agent).filter((at) => now - at < 3600_000);
  if (recent.length >= healingTimes.restartsPerHour) {
    const detail = `${recent.length} restarts within an hour did not help. Look at Show Log, then force a fresh restart.`;
    return { kind: 'end', end: { kind: 'dead', reason: 'crash loop', detail } };
  }
  const latest = Math.max(0, ...Object.values(state.agents).flatMap(restarts));
  if (now < latest + healingTimes.restartEvery) return { kind: 'wait', until: latest + healingTimes.restartEvery };
  return { kind: 'resume' };
}

/** A reconnect would use the address that the process was started with, and a stranger may be there. */
function asksAtOldPort(state: FleetState, agent: Agent): boolean {
  const { portSince } = state.epoch ?? {};
  const launch = currentLaunch(agent);
  return portSince !== undefined && launch !== undefined && launch.requestedAt < portSince;
}

function failures(attempts: readonly HealingAttempt[], rung: 'reconnect' | 'resume'): number {
  return attempts.filter((attempt) => attempt.rung === rung && attempt.outcome === 'failed').length;
}

function putOffUntil(attempts: readonly HealingAttempt[]): number {
  const last = attempts.at(-1);
  if (last?.outcome !== 'put off' || last.endedAt === undefined) return 0;
  const inARow = attempts.length - 1 - attempts.findLastIndex((attempt) => attempt.outcome !== 'put off');
  return last.endedAt + Math.min(healingTimes.putOffPause * 2 ** (inARow - 1), healingTimes.putOffPauseLimit);
}
