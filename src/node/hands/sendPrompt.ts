import { delay } from '../../base/async.ts';
import { pastedText } from '../../core/claude/promptText.ts';
import type { PromptState } from '../../core/fleet/agent.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import { lookAtPane, pasteGuarded } from '../tmux/guardedKeys.ts';
import type { TmuxCommands } from '../tmux/tmuxClient.ts';
import { enterOnceShown, lookWhetherFree, type TypingContext } from './typeLine.ts';

/** A prompt for the agent in a pane. */
export interface PromptToSend {
  readonly promptId: string;
  readonly text: string;
}

/** What the sending of a prompt works with. */
export interface PromptContext extends TypingContext {
  /** What the fleet knows of it now; undefined: it is not known (any more). */
  readonly state: () => PromptState | undefined;
  readonly report: (fact: PromptFact) => void;
}

export type PromptFact =
  | { readonly kind: 'prompt taken' }
  | { readonly kind: 'prompt waits'; readonly reason: string }
  | { readonly kind: 'prompt typed' };

/** What is left: nothing, or another step after so many milliseconds. */
export type PromptStep = { readonly kind: 'done' } | { readonly kind: 'again'; readonly afterMs: number };

const limits = {
  /** Between looks at what is in the way. */
  waitMs: 1_000,
  /** A text that does not show yet is looked for again after this. */
  showMs: 500,
  /** A text that still stands in the input line this long after Enter was not taken by it. */
  enterAgainMs: 5_000,
  /** How long the fleet may take to know that the prompt was taken. */
  takenMs: 5_000,
  takenEveryMs: 10,
} as const;

/** How far a prompt has come in a pane. The pane itself keeps it: it outlives the hands and the gateway. */
type Progress = 'not pasted' | 'pasted' | 'entered' | 'entered again';

/**
 * Does what can be done for a prompt now; to be called again after a while as long as it is wanted. It is pasted once in
 * its life: the mark on the pane is set in the same go as the paste. Enter is pressed when the input line shows the whole
 * text, and once more if it still stands there at a later step. That it was received only a hook tells.
 */
export async function stepPrompt(
  tmux: TmuxCommands,
  pane: PaneInfo,
  { promptId, text }: PromptToSend,
  context: PromptContext,
): Promise<PromptStep> {
  const kind = context.state()?.kind;
  if (!isOpen(context.state())) return { kind: 'done' };
  const pasted = pastedText(text);
  let progress = progressOf((await lookAtPane(tmux, pane.paneId)).mark, promptId);
  if (progress === 'not pasted') {
    // The fleet knows of a paste that this pane does not: of another pane's, or one that tmux lost. Never again, then.
    if (kind === 'typed') return { kind: 'done' };
    if (!(await paste(tmux, pane, { promptId, text: pasted }, context))) {
      return { kind: 'again', afterMs: limits.waitMs };
    }
    progress = 'pasted';
  }
  if (context.state()?.kind !== 'typed') context.report({ kind: 'prompt typed' });
  const next = progress === 'pasted' ? 'entered' : progress === 'entered' ? 'entered again' : undefined;
  if (next === undefined) return { kind: 'done' };
  const stillWanted = (): boolean => context.stillWanted() && isOpen(context.state());
  const outcome = await enterOnceShown(tmux, pane, text, { ...context, stillWanted, mark: `${promptId} ${next}` });
  return { kind: 'again', afterMs: outcome === 'entered' ? limits.enterAgainMs : limits.showMs };
}

/** Whether the text went into the input line. */
async function paste(
  tmux: TmuxCommands,
  pane: PaneInfo,
  { promptId, text }: PromptToSend,
  context: PromptContext,
): Promise<boolean> {
  // The text of a former prompt may stand there by chance: only an empty line is free.
  const first = await lookWhetherFree(tmux, pane, '', context);
  if (first.kind === 'taken') {
    context.report({ kind: 'prompt waits', reason: first.reason });
    return false;
  }
  if (context.state()?.kind === 'queued') {
    context.report({ kind: 'prompt taken' });
    const until = performance.now() + limits.takenMs;
    while (context.state()?.kind === 'queued' && performance.now() < until) await delay(limits.takenEveryMs);
  }
  // Only now it cannot be called off any more, and only now it may be typed.
  if (context.state()?.kind !== 'typing' || !context.stillWanted()) return false;
  const second = await lookWhetherFree(tmux, pane, '', context);
  if (second.kind === 'taken') {
    context.report({ kind: 'prompt waits', reason: second.reason });
    return false;
  }
  if (!context.stillWanted() || progressOf(second.look.mark, promptId) !== 'not pasted') return false;
  const outcome = await pasteGuarded(tmux, pane.paneId, second.look, { text, mark: `${promptId} pasted` });
  return outcome === 'done';
}

function progressOf(mark: string, promptId: string): Progress {
  switch (mark) {
    case `${promptId} pasted`:
      return 'pasted';
    case `${promptId} entered`:
      return 'entered';
    case `${promptId} entered again`:
      return 'entered again';
    default:
      return 'not pasted';
  }
}

function isOpen(state: PromptState | undefined): boolean {
  return state?.kind === 'queued' || state?.kind === 'typing' || state?.kind === 'typed';
}
