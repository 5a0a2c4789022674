import { type Health, isBound } from '../binding/health.ts';
import type { FleetEvent } from './events.ts';
import { resumeOrFresh } from './launching.ts';
import { poisonSentence } from './poison.ts';
import { isSettled } from './reducePrompts.ts';
import type { Agent } from './agent.ts';
import type { FleetState } from './state.ts';
import type { RunningLaunch } from './life.ts';

const minuteMs = 60_000;

/**
 * Puts an agent to sleep that has been idle for its time, and wakes a sleeping one for a prompt. What the fleet does not
 * know (a person at the terminal, unsent text) the hands look at right before they end it; then its time begins anew.
 */
export function planSleep(
  state: FleetState,
  agent: Agent,
  healths: readonly Health[],
  now: number,
): { readonly decisions: readonly FleetEvent[]; readonly wakeAt?: number } {
  const { life, name } = agent;
  if (life.kind === 'sleeping') {
    if (!hasOpenPrompt(agent)) return { decisions: [] };
    const launch = { ...resumeOrFresh(agent, now), cause: 'wake' } as const;
    return { decisions: [{ at: now, kind: 'launch requested', name, launch }] };
  }
  const minutes = agent.configuration.idleMinutes ?? state.settings.idleMinutes ?? 0;
  // Without hands nobody could look, and it would be shown as stopping for ever.
  if (minutes === 0 || life.kind !== 'running' || state.hands === undefined) return { decisions: [] };
  const { verifiedAt, awake } = life.running;
  if (verifiedAt === undefined || !isAtRest(agent, life.running, healths)) return { decisions: [] };
  const sleepsAt = Math.max(agent.activity.since, verifiedAt, awake?.at ?? 0) + minutes * minuteMs;
  if (now < sleepsAt) return { decisions: [], wakeAt: sleepsAt };
  return { decisions: [{ at: now, kind: 'stop requested', name, reason: 'idle', then: 'keep' }] };
}

/** Whether nothing is under way with the agent, as far as the fleet knows. */
export function isAtRest(agent: Agent, running: RunningLaunch, healths: readonly Health[]): boolean {
  const { activity, incidents, saveRestart, session } = agent;
  return (
    activity.kind === 'idle' &&
    running.dialog === undefined &&
    poisonSentence(agent) === undefined &&
    // What has no transcript lives in the process alone.
    session?.unsaved?.missingAt === undefined &&
    !hasOpenPrompt(agent) &&
    Object.keys(incidents).length === 0 &&
    (saveRestart === undefined || saveRestart.ended !== undefined) &&
    healths.every(isBound)
  );
}

function hasOpenPrompt({ prompts }: Agent): boolean {
  return prompts?.some((prompt) => !isSettled(prompt)) === true;
}
