import { type Health, isBeingUpdated } from '../binding/health.ts';
import { activeAttempt } from '../healing/ladder.ts';
import { poisonSentence } from './poison.ts';
import type { Agent } from './agent.ts';
import type { HandsLease } from './state.ts';

/** The life that a person sees (spec, Life of an agent), derived from the stored life and the health of the endpoints. */
export type ShownLife =
  'stopped' | 'launching' | 'verifying' | 'ready' | 'healing' | 'stopping' | 'sleeping' | 'blocked' | 'dead';

/** The shown life and one sentence about it, empty where the word says it all. `hands`: who acts for the fleet, if anybody. */
export function lifeOf(
  agent: Agent,
  healths: readonly Health[],
  hands: HandsLease | undefined,
): { readonly life: ShownLife; readonly detail: string } {
  const { life } = agent;
  switch (life.kind) {
    case 'launching':
      if (life.waits !== undefined) return { life: 'launching', detail: `waits: ${life.waits}` };
      return { life: 'launching', detail: life.launch.mode === 'resume' ? 'resuming its conversation' : '' };
    case 'stopping':
      return { life: 'stopping', detail: life.reason === 'idle' ? 'is being put to sleep' : '' };
    case 'sleeping':
      return { life: 'sleeping', detail: 'a prompt or Attach wakes it, with its conversation' };
    case 'stopped':
      return { life: 'stopped', detail: adoptionDetail(agent) ?? life.detail ?? '' };
    case 'blocked':
      return { life: 'blocked', detail: `${life.reason}: ${life.detail}` };
    case 'dead':
      return { life: 'dead', detail: `${life.reason}: ${life.detail}` };
    case 'running':
      break;
  }
  const { dialog } = life.running;
  if (dialog !== undefined && dialog !== 'permission') {
    return { life: 'blocked', detail: `waits at a dialog (${dialog}): attach and answer it` };
  }
  const poison = poisonSentence(agent);
  if (poison !== undefined) return { life: 'blocked', detail: `conversation poisoned: ${poison}` };
  const ends = Object.values(agent.incidents).flatMap(({ end }) => end ?? []);
  const dead = ends.find(({ kind }) => kind === 'dead');
  if (dead !== undefined) return { life: 'dead', detail: `${dead.reason}: ${dead.detail}` };
  const [asked] = ends;
  if (asked !== undefined) {
    return { life: 'blocked', detail: `its tools are gone and healing needs your choice: ${asked.detail}` };
  }
  const { unverified } = life.running;
  if (unverified !== undefined && life.running.confirmedAt === undefined) {
    return { life: 'blocked', detail: unverified.detail };
  }
  const attempt = Object.values(agent.incidents).map(activeAttempt).find(Boolean);
  if (attempt !== undefined) return { life: 'healing', detail: attempt.rung };
  const putOff = Object.values(agent.incidents)
    .map(({ attempts }) => attempts.at(-1))
    .find((last) => last?.outcome === 'put off');
  if (putOff !== undefined) return { life: 'healing', detail: `${putOff.rung} waits: ${putOff.detail ?? ''}` };
  if (healths.some((health) => health.state === 'unbound')) {
    return { life: 'healing', detail: hands === undefined ? withoutHands : untilIdle(agent) };
  }
  if (life.running.verifiedAt === undefined || healths.some((health) => health.state === 'pending')) {
    return { life: 'verifying', detail: '' };
  }
  if (healths.some(isBeingUpdated))
    return { life: 'verifying', detail: 'an MCP server of its own is being connected anew' };
  return { life: 'ready', detail: relaunchSentence(agent) };
}

function adoptionDetail({ adoption }: Agent): string | undefined {
  return adoption && `waits for the end of process ${adoption.pid}, to go on with its conversation`;
}

const withoutHands = 'waits: no window is open that could heal it. Open one, or switch on "bowline.healWithoutWindow".';

/** Healing ends no turn by itself: what it waits for may be a tool that never answers, and that only a person can judge. */
function untilIdle({ activity }: Agent): string {
  switch (activity.kind) {
    case 'idle':
      return '';
    case 'busy':
      return 'waits for the end of its turn. If that waits for a lost tool, Interrupt Turn ends it';
    case 'waiting for permission':
    case 'waiting for input':
      return 'waits for your answer to its question: attach and give it';
    case 'unknown':
      return 'waits for a sign that it is idle: attach and look';
  }
}

function relaunchSentence({ relaunch }: Agent): string {
  if (relaunch === undefined) return '';
  const changed = relaunch.changed.join(', ');
  return relaunch.when === 'idle'
    ? `is relaunched with its conversation when it is idle and nobody types, for its changed ${changed}`
    : `runs with its former ${changed}: Restart it to use the change`;
}
