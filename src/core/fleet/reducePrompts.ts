import type { HookFact } from '../claude/facts.ts';
import type { Reduction } from './agentUpdate.ts';
import type { FleetEvent } from './events.ts';
import type { Agent, PromptRecord, PromptState } from './agent.ts';

type PromptEvent = Extract<FleetEvent, { kind: `prompt ${string}` | `save restart ${string}` }>;

/** How many settled prompts are kept. */
const settledKept = 20;

/** Whether nothing more is done for the prompt; the receipt of an unknown one may still come. */
export function isSettled({ state }: PromptRecord): boolean {
  return state.kind === 'received' || state.kind === 'unknown' || state.kind === 'failed';
}

/** Folds one step of a prompt, or of a restart that waits for a save. Once it may have been typed it is never queued again by a person's step. */
export function reducePrompts(agent: Agent, event: PromptEvent): Reduction {
  const { at } = event;
  switch (event.kind) {
    case 'prompt requested':
      return requested(agent, { ...event.prompt, state: { kind: 'queued' } }, at);
    case 'prompt taken': {
      const { promptId, launchId } = event;
      return change(agent, promptId, ({ kind }) =>
        kind === 'queued' ? { kind: 'typing', launchId, since: at } : undefined,
      );
    }
    case 'prompt waits': {
      const next: PromptState = { kind: 'queued', waitsFor: event.reason };
      return change(agent, event.promptId, (state) => {
        if (state.kind === 'typing') return next;
        return state.kind === 'queued' && state.waitsFor !== event.reason ? next : undefined;
      });
    }
    case 'prompt typed': {
      const { promptId, launchId } = event;
      const reduction = change(agent, promptId, (state) => {
        const since = state.kind === 'typing' ? state.since : at;
        // What was typed is true, also where it was called off in the same moment.
        const isNews = state.kind === 'queued' || state.kind === 'typing' || state.kind === 'failed';
        return isNews ? { kind: 'typed', launchId, since, at } : undefined;
      });
      return withLine(agent, reduction, at, 'prompt typed');
    }
    case 'prompt ended': {
      const { outcome, detail } = event;
      const reduction = change(agent, event.promptId, (state) => {
        if (outcome === 'failed') return state.kind === 'queued' ? { kind: 'failed', at, detail } : undefined;
        if (state.kind !== 'typing' && state.kind !== 'typed') return undefined;
        return { kind: 'unknown', launchId: state.launchId, since: state.since, at, detail };
      });
      return withLine(agent, reduction, at, `prompt ${outcome === 'failed' ? 'not sent' : 'unknown'}: ${detail}`);
    }
    case 'save restart requested':
      if (agent.saveRestart?.promptId === event.request.promptId) return { agent };
      return {
        agent: { ...agent, saveRestart: { ...event.request, requestedAt: at } },
        timeline: [{ at, text: 'asked to save its context, then to be restarted' }],
      };
    case 'save restart ended': {
      const { saveRestart } = agent;
      if (saveRestart?.promptId !== event.promptId || saveRestart.ended !== undefined) return { agent };
      const { outcome, detail } = event;
      return {
        agent: { ...agent, saveRestart: { ...saveRestart, ended: { at, outcome, detail } } },
        timeline: [{ at, text: `after its save ${outcome}: ${detail}` }],
      };
    }
  }
}

/**
 * The receipt: the hook of the launch in which the prompt was typed names the digest of its text. Of two with one text it
 * is the later one that was typed before the hook ran. A late receipt settles a prompt that was given up as unknown.
 */
export function receivePrompt(agent: Agent, launchId: string, hook: HookFact, at: number): Reduction {
  if (hook.event !== 'UserPromptSubmit' || hook.promptDigest === undefined) return { agent };
  const received = agent.prompts?.findLast(({ digest, state }) => {
    const wasTyped = state.kind === 'typing' || state.kind === 'typed' || state.kind === 'unknown';
    return wasTyped && state.launchId === launchId && state.since <= at && digest === hook.promptDigest;
  });
  if (received === undefined) return { agent };
  const reduction = change(agent, received.id, () => ({ kind: 'received', launchId, at }));
  return withLine(agent, reduction, at, 'prompt received');
}

/** The receipt where no hook told it: the conversation's transcript holds the prompt, with a time after it was typed. */
export function promptFound(agent: Agent, promptId: string, at: number): Reduction {
  const reduction = change(agent, promptId, (state) => {
    const wasTyped = state.kind === 'typing' || state.kind === 'typed' || state.kind === 'unknown';
    return wasTyped ? { kind: 'received', launchId: state.launchId, at } : undefined;
  });
  return withLine(agent, reduction, at, 'prompt received, as its transcript tells; no hook told it');
}

function requested(agent: Agent, prompt: PromptRecord, at: number): Reduction {
  const { prompts = [] } = agent;
  if (prompts.some(({ id }) => id === prompt.id)) return { agent };
  const surplus = new Set(prompts.filter(isSettled).slice(0, -settledKept));
  const kept = prompts.filter((one) => !surplus.has(one));
  return { agent: { ...agent, prompts: [...kept, prompt] }, timeline: [{ at, text: `prompt queued by ${prompt.by}` }] };
}

function change(agent: Agent, id: string, next: (state: PromptState) => PromptState | undefined): Reduction {
  const { prompts = [] } = agent;
  const known = prompts.find((prompt) => prompt.id === id);
  const state = known === undefined ? undefined : next(known.state);
  if (known === undefined || state === undefined) return { agent };
  return { agent: { ...agent, prompts: prompts.map((prompt) => (prompt === known ? { ...known, state } : prompt)) } };
}

function withLine(before: Agent, reduction: Reduction, at: number, text: string): Reduction {
  return reduction.agent === before ? reduction : { ...reduction, timeline: [{ at, text }] };
}
