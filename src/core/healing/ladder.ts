import type { Verdict } from '../guard/verdict.ts';
import type { ActivityKind } from '../fleet/agent.ts';
import type { HealingAttempt, Incident, IncidentEnd, Rung } from './incident.ts';
import type { HealingPolicy } from '../fleet/configuration.ts';
import type { RestartLimits } from './restartLimits.ts';

/** Limits of healing (spec, Healing ladder), in milliseconds and counts. */
export const healingTimes = {
  /** How often a rung may fail before the next one. */
  tries: { nudge: 2, reconnect: 2, resume: 1, fresh: 1 },
  /** From the Enter of `/mcp reconnect` to a proven binding; the client confirms after 0.14 s (measured, both versions). */
  verifyReconnect: 8_000,
  /** A client opens a dropped stream again after 1.0 s, and tries twice more within 4 s (measured, claude 2.1.332). */
  verifyNudge: 6_000,
  /** How long the hands may take to type before the try counts as put off. */
  actLimit: 15_000,
  /** A new process that told nothing by then. One that did, and is unbound, has failed at once. */
  verifyRestart: 90_000,
  /** A try that was put off (busy screen, a person typing) is made again after this, doubled each time up to the limit. */
  putOffPause: 2_000,
  putOffPauseLimit: 60_000,
  /** How long a reconnect that a person asked for is tried again while something is in the way. */
  personWaits: 600_000,
  /** Between two restarts by healing in the whole fleet. */
  restartEvery: 20_000,
  restartsPerHour: 3,
} as const;

/** The rungs that are started; `adopt` is what the gateway does by itself with the sessions that it knows. */
export type StartedRung = Exclude<Rung, 'adopt'>;

/** The next move for one unbound endpoint. */
export type Move =
  | { readonly kind: 'rung'; readonly rung: StartedRung }
  | { readonly kind: 'end'; readonly end: IncidentEnd }
  | { readonly kind: 'wait'; readonly until?: number };

/** All that the next move is decided by. */
export interface Situation {
  /** `configuration`: only a person can mend it; a restart would bring it back. */
  readonly cause: 'configuration' | 'lost';
  readonly nextStep: string;
  readonly policy: HealingPolicy;
  /** Whether a person asked for healing: then the policy holds nothing back. */
  readonly askedBy: 'person' | 'nobody';
  /** Why healing stopped; undefined: it did not. */
  readonly end: IncidentEnd['reason'] | undefined;
  /** How often each rung failed. */
  readonly failed: Readonly<Record<StartedRung, number>>;
  /** Rungs that would be of no use here. */
  readonly useless: readonly StartedRung[];
  /** A try was put off until then; 0: none was. */
  readonly retryAt: number;
  readonly hands: 'there' | 'nobody';
  readonly activity: ActivityKind;
  readonly guard: Readonly<
    Record<'resume' | 'fresh', Pick<Verdict, 'allowed' | 'reason' | 'downgraded' | 'wouldBeLost'>>
  >;
  readonly restarts: Pick<RestartLimits, 'recent' | 'nextAt'>;
}

const order: readonly StartedRung[] = ['nudge', 'reconnect', 'resume', 'fresh'];

/** How far each policy goes by itself. */
const rungsOf: Readonly<Record<HealingPolicy, readonly StartedRung[]>> = {
  auto: order,
  'auto to resume': ['nudge', 'reconnect', 'resume'],
  'auto to reconnect': ['nudge', 'reconnect'],
  ask: [],
  off: [],
};

const again = 'Heal Now tries everything again.';

/**
 * Picks the next rung from what was tried: the mildest that is of use and has tries left. A rung follows only on a failed
 * one. Causes in the configuration go to a person, and so does what the policy or the restart guard holds back.
 */
export function nextMove(situation: Situation, now: number): Move {
  const { cause, policy, end, failed, retryAt, activity } = situation;
  const allowed = situation.askedBy === 'person' ? order : rungsOf[policy];
  const rung = order.find((one) => !situation.useless.includes(one) && failed[one] < healingTimes.tries[one]);
  // What only the policy held back goes on when that is changed.
  if (end !== undefined && !(end === 'policy' && rung !== undefined && allowed.includes(rung))) return { kind: 'wait' };
  if (cause === 'configuration') return ask('configuration', situation.nextStep);
  if (rung === undefined) return { kind: 'end', end: dead('healing failed', `${tried(failed)} ${again}`) };
  if (!allowed.includes(rung)) return ask('policy', heldBack(situation));
  if (situation.hands === 'nobody') return { kind: 'wait' };
  if (now < retryAt) return { kind: 'wait', until: retryAt };
  // A client that answers nothing is not disturbed by a new stream; all else waits until it is idle.
  if (rung === 'nudge') return { kind: 'rung', rung };
  if (activity !== 'idle') return { kind: 'wait' };
  return rung === 'reconnect' ? { kind: 'rung', rung } : restart(situation, rung, now);
}

function restart({ guard, failed, restarts }: Situation, rung: 'resume' | 'fresh', now: number): Move {
  const { allowed, downgraded, reason, wouldBeLost } = guard[rung];
  if (rung === 'fresh' && (!allowed || downgraded !== 'no')) {
    return ask(
      'guard',
      `${tried(failed)} The restart guard does not allow a fresh start (${reason}). Would be lost: ${wouldBeLost} ` +
        'Force Fresh Restart starts it all the same.',
    );
  }
  // What stands in the way of a resume passes: a turn, a question, unsent input.
  if (!allowed) return { kind: 'wait' };
  if (restarts.recent >= healingTimes.restartsPerHour) {
    const detail = `${restarts.recent} restarts within an hour did not help. Look at Show Log; ${again}`;
    return { kind: 'end', end: dead('crash loop', detail) };
  }
  return now < restarts.nextAt ? { kind: 'wait', until: restarts.nextAt } : { kind: 'rung', rung };
}

function ask(reason: IncidentEnd['reason'], detail: string): Move {
  return { kind: 'end', end: { kind: 'asked', reason, detail } };
}

function dead(reason: IncidentEnd['reason'], detail: string): IncidentEnd {
  return { kind: 'dead', reason, detail };
}

/** The policy allows no rung, or none of those that are left. */
function heldBack({ failed, nextStep, policy }: Situation): string {
  if (policy === 'ask' || policy === 'off') return nextStep;
  return `${tried(failed)} The setting "bowline.healing" (${policy}) goes no further. Heal Now does.`;
}

/** What did not help, in one sentence. */
function tried(failed: Situation['failed']): string {
  const rungs = order.filter((rung) => failed[rung] > 0);
  const list = rungs.map((rung) => (failed[rung] === 1 ? rung : `${rung} (${failed[rung]} times)`)).join(', ');
  const restarted = failed.resume + failed.fresh > 0;
  return `${restarted ? 'Restart did not help' : 'Healing did not help'}: ${list === '' ? 'nothing could be tried' : `tried ${list}`}.`;
}

/** The attempt that is under way, if any. */
export function activeAttempt(incident: Incident | undefined): HealingAttempt | undefined {
  const last = incident?.attempts.at(-1);
  return last?.endedAt === undefined ? last : undefined;
}

/** When an attempt that is under way counts as failed. */
export function attemptDeadline(attempt: HealingAttempt): number {
  if (isRestart(attempt)) return attempt.startedAt + healingTimes.verifyRestart;
  if (attempt.actedAt === undefined) return attempt.startedAt + healingTimes.actLimit;
  return attempt.actedAt + (attempt.rung === 'nudge' ? healingTimes.verifyNudge : healingTimes.verifyReconnect);
}

export function isRestart({ rung }: HealingAttempt): boolean {
  return rung === 'resume' || rung === 'fresh';
}
