import type { Health } from '../binding/health.ts';
import { bindingTimes } from '../binding/times.ts';
import type { FleetEvent } from './events.ts';
import type { Agent } from './state.ts';

/**
 * A launch is verified when its process lives, a SessionStart that fits was told, and every endpoint is proven. One that
 * tells nothing within the grace time is said to be silent; a dialog on its screen explains that already.
 */
export function planVerification(
  agent: Agent,
  healths: readonly Health[],
  now: number,
): { readonly decisions: readonly FleetEvent[]; readonly wakeAt?: number } {
  const { life, name } = agent;
  if (life.kind !== 'running' || life.running.verifiedAt !== undefined) return { decisions: [] };
  const { launch, startedAt, confirmedAt, unverified, dialog } = life.running;
  const subject = { at: now, name, launchId: launch.id };
  if (confirmedAt !== undefined) {
    const isProven = healths.every(({ state }) => state === 'bound' || state === 'not checkable');
    return { decisions: isProven ? [{ ...subject, kind: 'launch verified' }] : [] };
  }
  if (unverified !== undefined || dialog !== undefined) return { decisions: [] };
  const until = startedAt + bindingTimes.graceAfterProcessStart;
  if (now < until) return { decisions: [], wakeAt: until };
  const seconds = bindingTimes.graceAfterProcessStart / 1000;
  const detail = `it told nothing within ${seconds} s of its start: attach and look what it waits for`;
  return { decisions: [{ ...subject, kind: 'launch unverified', detail }] };
}
