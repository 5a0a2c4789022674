import type { Effect } from './effects.ts';
import type { FleetEvent } from './events.ts';
import type { Agent } from './agent.ts';
import type { InterruptOutcome } from './life.ts';

/** In milliseconds. */
export const interruptTimes = {
  /** From the request to the key: a person at the terminal may be in the way for a moment. */
  pressWithin: 15_000,
  /** From the key to the end of the turn; Claude tells it within 0.2 s (measured, 2.1.160 and 2.1.332). */
  endsWithin: 5_000,
} as const;

/** Looks that were asked for, and the interrupt that is under way; `wakeAt` as in `Plan`. */
export function planScreen(
  agent: Agent,
  now: number,
): { readonly decisions: readonly FleetEvent[]; readonly effects: readonly Effect[]; readonly wakeAt?: number } {
  const { life, name } = agent;
  if (life.kind !== 'running') return { decisions: [], effects: [] };
  const { look, launch } = life.running;
  const interrupt = planInterrupt(agent, now);
  if (look === undefined || look.seen !== undefined) return interrupt;
  const { askedAt } = look;
  const effect: Effect = { kind: 'look', id: `look:${launch.id}:${askedAt}`, name, launchId: launch.id, askedAt };
  return { ...interrupt, effects: [effect, ...interrupt.effects] };
}

/** Escape is wanted only in the turn that it was meant for, and what came of it is told by what the agent does then. */
function planInterrupt(agent: Agent, now: number): ReturnType<typeof planScreen> {
  const { life, activity, name } = agent;
  const interrupt = life.kind === 'running' ? life.running.interrupt : undefined;
  if (life.kind !== 'running' || interrupt === undefined || interrupt.ended !== undefined) {
    return { decisions: [], effects: [] };
  }
  const launchId = life.running.launch.id;
  const { id, pressedAt, turnSince, at } = interrupt;
  const end = (outcome: InterruptOutcome, detail: string): ReturnType<typeof planScreen> => {
    return {
      decisions: [{ at: now, kind: 'interrupt ended', name, launchId, interruptId: id, outcome, detail }],
      effects: [],
    };
  };
  const isThatTurn = activity.kind === 'busy' && activity.since === turnSince;
  if (pressedAt !== undefined) {
    if (!isThatTurn) return end('interrupted', 'the turn was interrupted');
    const until = pressedAt + interruptTimes.endsWithin;
    if (now < until) return { decisions: [], effects: [], wakeAt: until };
    return end('no effect', `Escape was pressed, and ${name} goes on with its turn. Attach to ${name} and look.`);
  }
  if (!isThatTurn) return end('no effect', `The turn of ${name} was over before Escape was pressed; nothing was done.`);
  const until = at + interruptTimes.pressWithin;
  if (now >= until) {
    return end('no effect', `Escape could not be pressed in time. Attach to ${name} and press it there.`);
  }
  const effect: Effect = { kind: 'interrupt', id: `interrupt:${id}`, name, launchId, interruptId: id };
  return { decisions: [], effects: [effect], wakeAt: until };
}
