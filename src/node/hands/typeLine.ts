import { delay } from '../../base/async.ts';
import { showsPrompt } from '../../core/claude/promptText.ts';
import { readScreen, type ScreenReading } from '../../core/claude/screen.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import { enterGuarded, lookAtPane, type PaneLook, pasteGuarded } from '../tmux/guardedKeys.ts';
import { lastClientActivity, sendKeys } from '../tmux/paneOperations.ts';
import type { TmuxCommands } from '../tmux/tmuxClient.ts';

/** Whether the line was submitted, or why nothing was. */
export type TypeOutcome = { readonly kind: 'typed' } | { readonly kind: 'put off'; readonly reason: string };

/** What is asked while text is brought into an agent. */
export interface TypingContext {
  readonly now: () => number;
  /** Asked right before each key. */
  readonly stillWanted: () => boolean;
}

/** Nothing is typed within this time of a person's last key (spec, Life of an agent). In milliseconds. */
export const personQuietMs = 5_000;

const limits = {
  /** How long the text may take to show in the input line. */
  echoMs: 2_000,
  echoEveryMs: 40,
} as const;

/**
 * Brings one line into the empty input line of an agent and submits it, once the screen shows the text there. Never into
 * a dialog, over unsent text, or while a person is at the keys. A line that an earlier try left there, because it showed
 * too late, is taken up, and one that was submitted for the same `attempt` is not typed again: whoever typed it
 * may have been killed before telling.
 *
 * A dialog may open between any look and what is sent after it. So the text goes as a bracketed paste, which no dialog
 * takes for an answer, and Enter goes only while the cursor stands where it stood when the input line showed the text
 * (see `guardedKeys`).
 */
export async function typeLine(
  tmux: TmuxCommands,
  pane: PaneInfo,
  text: string,
  context: TypingContext & { readonly attempt: string },
): Promise<TypeOutcome> {
  if ((await lookAtPane(tmux, pane.paneId)).line === context.attempt) return { kind: 'typed' };
  const putOff = (reason: string): TypeOutcome => ({ kind: 'put off', reason });
  const free = await lookWhetherFree(tmux, pane, text, context);
  if (free.kind === 'taken') return putOff(free.reason);
  if (!context.stillWanted()) return putOff('called off');
  if (free.holds === 'nothing') {
    if ((await pasteGuarded(tmux, pane.paneId, free.look, { text })) === 'changed') return putOff('the screen changed');
  }
  const outcome = await enterOnceShown(tmux, pane, text, { ...context, line: context.attempt });
  switch (outcome) {
    case 'entered':
      return { kind: 'typed' };
    case 'not shown':
      // What does not show as the input line may stand anywhere; Enter could answer something.
      return putOff('the typed text did not show in the input line');
    case 'called off':
      await sendKeys(tmux, pane.paneId, { key: 'C-u' });
      return putOff('called off');
  }
}

/** Whether text may be brought into the input line now, and what is in the way otherwise. */
export type Freedom =
  | { readonly kind: 'free'; readonly holds: 'nothing' | 'the text'; readonly look: PaneLook }
  | { readonly kind: 'taken'; readonly reason: string };

/** Looks at the keys of persons and at the screen. `text`: what may stand in the input line already. */
export async function lookWhetherFree(
  tmux: TmuxCommands,
  pane: PaneInfo,
  text: string,
  context: TypingContext,
): Promise<Freedom> {
  const activity = await lastClientActivity(tmux, pane.sessionId);
  if (activity !== undefined && context.now() - activity * 1000 < personQuietMs) {
    return { kind: 'taken', reason: 'a person is typing' };
  }
  const look = await lookAtPane(tmux, pane.paneId);
  const reading = readScreen(look.lines);
  if (reading.kind !== 'input') return { kind: 'taken', reason: `the screen shows ${describe(reading)}` };
  if (reading.text === '') return { kind: 'free', holds: 'nothing', look };
  if (reading.text === text) return { kind: 'free', holds: 'the text', look };
  return { kind: 'taken', reason: 'the input line holds unsent text' };
}

/** Presses Enter, once, as soon as the input line shows the text. `mark` or `line` is left on the pane with the key. */
export async function enterOnceShown(
  tmux: TmuxCommands,
  pane: PaneInfo,
  text: string,
  context: TypingContext & Parameters<typeof enterGuarded>[3],
): Promise<'entered' | 'not shown' | 'called off'> {
  const until = performance.now() + limits.echoMs;
  do {
    const look = await lookAtPane(tmux, pane.paneId);
    const reading = readScreen(look.lines);
    if (reading.kind === 'input' && showsPrompt(reading.text, text)) {
      if (!context.stillWanted()) return 'called off';
      if ((await enterGuarded(tmux, pane.paneId, look, context)) === 'done') return 'entered';
    }
    await delay(limits.echoEveryMs);
  } while (performance.now() < until);
  return 'not shown';
}

function describe(reading: Exclude<ScreenReading, { kind: 'input' }>): string {
  switch (reading.kind) {
    case 'dialog':
      return `a dialog (${reading.dialog})`;
    case 'busy':
      return 'a turn in progress';
    case 'unknown':
      return 'no input line';
  }
}
