import { type Health, isBound } from '../binding/health.ts';
import { bindingTimes } from '../binding/times.ts';
import { healingTimes } from '../healing/ladder.ts';
import { restartLimits } from '../healing/restartLimits.ts';
import type { FleetEvent } from './events.ts';
import { freshLaunch } from './launching.ts';
import { withNextStep } from './nextSteps.ts';
import type { Agent } from './agent.ts';
import type { FleetState } from './state.ts';
import type { Life, RunningLaunch } from './life.ts';

interface VerificationPlan {
  readonly decisions: readonly FleetEvent[];
  readonly wakeAt?: number;
}

const nothing: VerificationPlan = { decisions: [] };
/** How long a launch may wait for somebody to start it before it is said why it does. */
const startLimits = { withoutHands: 20_000, withHands: 60_000 } as const;

/**
 * A launch is verified when its process lives, a SessionStart that fits was told, and every endpoint is proven. One that
 * tells nothing within the grace time is said to be silent; a dialog on its screen explains that already. One that tells
 * another conversation than it was to resume has failed.
 */
export function planVerification(
  state: FleetState,
  agent: Agent,
  healths: readonly Health[],
  now: number,
): VerificationPlan {
  const { life } = agent;
  if (life.kind === 'launching') return slowStart(state, agent, life, now);
  if (life.kind === 'blocked' && life.reason === 'resume failed') return afterFailedResume(state, agent, now);
  if (life.kind !== 'running' || life.running.verifiedAt !== undefined) return nothing;
  return verification(agent, life.running, healths, now);
}

function verification(
  { name }: Agent,
  running: RunningLaunch,
  healths: readonly Health[],
  now: number,
): VerificationPlan {
  const { launch, startedAt, confirmedAt, otherStart, unverified, dialog } = running;
  const subject = { at: now, name, launchId: launch.id };
  const isProven = healths.every(isBound);
  if (confirmedAt !== undefined) return isProven ? { decisions: [{ ...subject, kind: 'launch verified' }] } : nothing;
  if (otherStart !== undefined) {
    // Some versions tell an id without a transcript beside the right one, in either order.
    const until = otherStart.transcript === 'there' ? now : startedAt + bindingTimes.graceAfterSessionStart;
    if (now < until) return { decisions: [], wakeAt: until };
    const [told, expected] = [otherStart.sessionId, launch.expectedSessionId ?? ''].map((id) => id.slice(0, 8));
    const detail = `Claude began conversation ${told} in place of ${expected}, and was ended for that.`;
    return { decisions: [{ ...subject, kind: 'resume failed', detail: withNextStep(detail, 'resume failed') }] };
  }
  if (unverified !== undefined || (dialog !== undefined && dialog !== 'permission')) return nothing;
  const until = startedAt + bindingTimes.graceAfterProcessStart;
  if (now < until) return { decisions: [], wakeAt: until };
  const seconds = bindingTimes.graceAfterProcessStart / 1000;
  const detail =
    isProven && healths.length > 0
      ? `hooks silent: its tools are bound, but no hook told its conversation within ${seconds} s: restart it, and look at Show Log if that does not help`
      : `it told nothing within ${seconds} s of its start: attach and look what it waits for`;
  return { decisions: [{ ...subject, kind: 'launch unverified', detail }] };
}

/** A launch that nobody starts says so; it is not taken back. */
function slowStart(
  { hands }: FleetState,
  { name }: Agent,
  { launch, waits }: Extract<Life, { kind: 'launching' }>,
  now: number,
): VerificationPlan {
  if (waits !== undefined) return nothing;
  const until = launch.requestedAt + (hands === undefined ? startLimits.withoutHands : startLimits.withHands);
  if (now < until) return { decisions: [], wakeAt: until };
  const sentence =
    hands === undefined
      ? 'no window is open that could start it. Open one, or switch on "bowline.healWithoutWindow".'
      : `it was not started within ${startLimits.withHands / 1000} s. Look at Show Log, or stop it.`;
  return { decisions: [{ at: now, kind: 'launch waits', name, launchId: launch.id, sentence }] };
}

/** Begins anew where the person chose that for such a case, as often as healing may restart, and tells what was lost. */
function afterFailedResume(state: FleetState, agent: Agent, now: number): VerificationPlan {
  const { name, session, configuration } = agent;
  if ((configuration.failedResume ?? state.settings.failedResume) !== 'fresh') return nothing;
  const { recent, nextAt, hourOverAt = 0 } = restartLimits(state, agent, now);
  const startsAt = Math.max(nextAt, recent < healingTimes.restartsPerHour ? 0 : hourOverAt);
  if (now < startsAt) return { decisions: [], wakeAt: startsAt };
  const lost = session === undefined ? 'its conversation' : `conversation ${session.id.slice(0, 8)}`;
  const sentence =
    `${name} began anew, because ${lost} could not be resumed. What was said there is not in the new one. ` +
    'Resume Other Conversation shows what is still there.';
  return {
    decisions: [
      {
        at: now,
        kind: 'noticed',
        notice: { at: now, code: 'conversation-lost', sentence, severity: 'error', agent: name },
      },
      { at: now, kind: 'launch requested', name, launch: { ...freshLaunch(agent, now), cause: 'healing' } },
    ],
  };
}
