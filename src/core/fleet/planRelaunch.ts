import type { Health } from '../binding/health.ts';
import { saveToolOf } from '../guard/saveTool.ts';
import { judgeRestart } from '../guard/verdict.ts';
import type { FleetEvent } from './events.ts';
import { resumeOrFresh } from './launching.ts';
import { isAtRest } from './planSleep.ts';
import type { Agent } from './agent.ts';
import type { FleetState } from './state.ts';

/** In milliseconds. */
export const relaunchTimes = {
  /** Between two looks at a screen that was in the way. */
  lookEvery: 60_000,
  /** How old a look may be that is acted on. */
  lookIsGoodFor: 5_000,
} as const;

/** Relaunches an agent whose configuration was changed, with its conversation, when it is idle and the guard allows it. */
export function planRelaunch(
  state: FleetState,
  agent: Agent,
  healths: readonly Health[],
  now: number,
): { readonly decisions: readonly FleetEvent[]; readonly wakeAt?: number } {
  const { life, name, relaunch } = agent;
  if (relaunch?.when !== 'idle' || life.kind !== 'running' || state.hands === undefined) return { decisions: [] };
  if (life.running.verifiedAt === undefined || !isAtRest(agent, life.running, healths)) return { decisions: [] };
  const { launch, look } = life.running;
  const seen = look !== undefined && look.askedAt >= relaunch.since ? look.seen : undefined;
  if (seen !== undefined && seen.shows === 'empty input' && now - seen.at <= relaunchTimes.lookIsGoodFor) {
    if (!judgeRestart(agent, 'resume', saveToolOf(agent, state.epoch, now), now).allowed) return { decisions: [] };
    const next = { ...resumeOrFresh(agent, now), cause: 'configuration' } as const;
    return { decisions: [{ at: now, kind: 'launch requested', name, launch: next }] };
  }
  const asked = look === undefined || look.askedAt < relaunch.since ? undefined : look.askedAt;
  const again = asked === undefined ? now : asked + relaunchTimes.lookEvery;
  if (now < again) return { decisions: [], wakeAt: again };
  return { decisions: [{ at: now, kind: 'look requested', name, launchId: launch.id }] };
}
