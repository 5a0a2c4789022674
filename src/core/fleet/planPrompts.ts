import { bindingHealth, type Health, isBeingUpdated } from '../binding/health.ts';
import { activeAttempt } from '../healing/ladder.ts';
import type { Effect } from './effects.ts';
import type { FleetEvent } from './events.ts';
import { isSettled } from './reducePrompts.ts';
import { type Agent, enabledServers, liveLaunchIds, type PromptRecord } from './agent.ts';
import type { Epoch } from './state.ts';

/** In milliseconds. */
export const promptTimes = {
  /** From the typing to the hook's report; the hook itself ends within a second of the submit. */
  receiptWithin: 20_000,
  /** From the typing to a look into the transcript, when no hook has told the receipt by then. */
  lookAfter: 5_000,
} as const;

/** What is to be done for an agent's prompts; `wakeAt` as in `Plan`. */
export interface PromptPlan {
  readonly decisions: readonly FleetEvent[];
  readonly effects: readonly Effect[];
  readonly wakeAt?: number;
}

/** One prompt after another, oldest first: the next one begins when the one before is settled. */
export function planPrompts(agent: Agent, healths: readonly Health[], now: number): PromptPlan {
  const nothing: PromptPlan = { decisions: [], effects: [] };
  const prompt = firstOpen(agent);
  if (prompt === undefined) return nothing;
  const { name } = agent;
  const end = (outcome: 'unknown' | 'failed', detail: string): PromptPlan => {
    return { decisions: [{ at: now, kind: 'prompt ended', name, promptId: prompt.id, outcome, detail }], effects: [] };
  };
  const effectFor = (launchId: string): readonly Effect[] => {
    return [{ kind: 'prompt', id: `prompt:${prompt.id}:${launchId}`, name, launchId, promptId: prompt.id }];
  };
  const { state } = prompt;
  switch (state.kind) {
    case 'queued': {
      // A sleeping agent wakes for it, one that is being put to sleep wakes when it sleeps.
      if (agent.life.kind === 'launching' || takesPromptsAsleep(agent)) return nothing;
      if (agent.life.kind !== 'running') {
        return end(
          'failed',
          `${name} does not run any more (${agent.life.kind}); nothing was sent. Start it and send the prompt again.`,
        );
      }
      if (inTheWay(agent, healths) !== undefined) return nothing;
      return { decisions: [], effects: effectFor(agent.life.running.launch.id) };
    }
    case 'typing':
    case 'typed': {
      if (!liveLaunchIds(agent).includes(state.launchId)) {
        return end(
          'unknown',
          `${name} was typed to, and its process ended before it told the receipt. Look at the agent before you send it again.`,
        );
      }
      const typing = effectFor(state.launchId);
      if (state.kind === 'typing') return { decisions: [], effects: typing };
      const deadline = state.at + promptTimes.receiptWithin;
      if (now >= deadline) {
        return end(
          'unknown',
          `The prompt was typed, and ${name} did not tell its receipt. Look at the agent before you send it again.`,
        );
      }
      const lookAt = state.at + promptTimes.lookAfter;
      if (now < lookAt) return { decisions: [], effects: typing, wakeAt: lookAt };
      return { decisions: [], effects: [...typing, ...receiptLook(agent, prompt.id)], wakeAt: deadline };
    }
    case 'received':
    case 'unknown':
    case 'failed':
      return nothing;
  }
}

/** No hook told the receipt: perhaps the transcript does. */
function receiptLook({ name, session }: Agent, promptId: string): readonly Effect[] {
  if (session?.transcriptPath === undefined) return [];
  const { id: sessionId, transcriptPath: path } = session;
  return [{ kind: 'transcript', id: `receipt:${promptId}`, name, sessionId, path, promptId }];
}

/** What a queued prompt waits for, in words that fit after "waits:"; undefined: its turn has come, or it is not queued. */
export function promptWaitsFor(agent: Agent, prompt: PromptRecord, healths: readonly Health[]): string | undefined {
  if (prompt.state.kind !== 'queued') return undefined;
  if (firstOpen(agent)?.id !== prompt.id) return 'an earlier prompt';
  return inTheWay(agent, healths) ?? prompt.state.waitsFor;
}

/** Whether an agent without a process, or with one that is about to end, takes prompts all the same: they wake it. */
export function takesPromptsAsleep({ life }: Agent): boolean {
  return life.kind === 'sleeping' || (life.kind === 'stopping' && life.reason === 'idle');
}

/** What forbids to type a prompt now, asked by the hands right before they do. */
export function promptForbiddenBy(agent: Agent, epoch: Epoch | undefined, now: number): string | undefined {
  return inTheWay(
    agent,
    enabledServers(agent).map((server) => bindingHealth(agent, server, epoch, now)),
  );
}

function firstOpen(agent: Agent): PromptRecord | undefined {
  return agent.prompts?.find((prompt) => !isSettled(prompt));
}

/** The screen forbids, too, but that only the hands see. */
function inTheWay(agent: Agent, healths: readonly Health[]): string | undefined {
  const { life, activity } = agent;
  if (life.kind !== 'running' || life.running.confirmedAt === undefined) {
    const dialog = life.kind === 'running' ? life.running.dialog : undefined;
    return dialog === undefined ? 'its start' : `a dialog (${dialog}); attach and answer it`;
  }
  if (life.running.dialog !== undefined) return `a dialog (${life.running.dialog}); attach and answer it`;
  if (agent.session?.quarantine !== undefined) return 'your choice about its poisoned conversation';
  switch (activity.kind) {
    case 'busy':
      return 'the end of its turn';
    case 'waiting for permission':
      return 'a permission; attach and answer the question';
    case 'waiting for input':
      return 'an input; attach and answer the question';
    case 'unknown':
      return 'a sign that it is idle';
    case 'idle':
      break;
  }
  if (Object.values(agent.incidents).some((incident) => activeAttempt(incident) !== undefined)) return 'its healing';
  if (healths.some(({ state }) => state === 'unbound')) return 'its tools, which are gone; heal it first';
  if (healths.some(({ state }) => state === 'suspect' || state === 'pending'))
    return 'its tools, which are being checked';
  if (healths.some(isBeingUpdated)) return 'an MCP server of its own, which is being connected anew';
  // Not `ready` yet: the proof of a launch is written down a moment after it came.
  return life.running.verifiedAt === undefined ? 'the first proof of its tools' : undefined;
}
