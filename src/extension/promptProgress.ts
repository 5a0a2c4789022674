import type { PromptView } from '../core/fleet/promptView.ts';
import type { Agent } from '../core/fleet/agent.ts';

/** What a sender is shown: how far it is, or how it ended. */
export type PromptProgress =
  | { readonly kind: 'open'; readonly message: string }
  | { readonly kind: 'received' }
  /** `sentence` is for the person. */
  | { readonly kind: 'unknown' | 'failed'; readonly sentence: string };

/** `view` undefined: the fleet does not know the prompt yet, or not any more because its agent was removed. */
export function promptProgress(name: string, view: PromptView | undefined): PromptProgress {
  if (view === undefined) return { kind: 'open', message: 'on its way' };
  switch (view.state) {
    case 'queued':
      return {
        kind: 'open',
        message: view.waitsFor === undefined ? 'its turn has come' : `waits: ${view.waitsFor}`,
      };
    case 'typing':
      return { kind: 'open', message: 'is being typed' };
    case 'typed':
      return { kind: 'open', message: `was typed; waits for ${name} to tell that it was received` };
    case 'received':
      return { kind: 'received' };
    case 'unknown':
    case 'failed':
      return { kind: view.state, sentence: view.detail ?? '' };
  }
}

/** The same for a restart that waits for the agent's save. */
export type SaveProgress =
  | { readonly kind: 'open'; readonly message: string }
  | { readonly kind: 'restarted' }
  | { readonly kind: 'not restarted'; readonly sentence: string };

/** `agent` undefined: it was removed. `view`: the prompt that asks for the save. */
export function saveProgress(agent: Agent | undefined, promptId: string, view: PromptView | undefined): SaveProgress {
  if (agent === undefined) return { kind: 'not restarted', sentence: 'The agent was removed; nothing was restarted.' };
  const { saveRestart, savedContext, name } = agent;
  if (saveRestart?.promptId !== promptId) return { kind: 'open', message: 'asking it to save' };
  const { ended, requestedAt } = saveRestart;
  if (ended !== undefined) {
    return ended.outcome === 'restarted' ? { kind: 'restarted' } : { kind: 'not restarted', sentence: ended.detail };
  }
  if (savedContext !== undefined && savedContext.at >= requestedAt) {
    return { kind: 'open', message: 'its context is saved; waits for the end of its turn' };
  }
  const prompt = promptProgress(name, view);
  if (prompt.kind === 'received') return { kind: 'open', message: 'was asked; waits for its save' };
  return { kind: 'open', message: prompt.kind === 'open' ? `the request to save ${prompt.message}` : prompt.sentence };
}
