import { delay } from '../../base/async.ts';
import { readScreen, type ScreenReading } from '../../core/claude/screen.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import { capturePane, lastClientActivity, sendKeys } from '../tmux/paneOperations.ts';
import type { TmuxCommands } from '../tmux/tmuxClient.ts';

/** Whether the line was submitted, or why nothing was. */
export type TypeOutcome = { readonly kind: 'typed' } | { readonly kind: 'put off'; readonly reason: string };

const limits = {
  /** Nothing is typed within this time of a person's last key (spec, Life of an agent). */
  personQuietMs: 5_000,
  /** How long the typed text may take to show in the input line. */
  echoMs: 2_000,
  echoEveryMs: 40,
} as const;

/**
 * Types one line into the empty input line of an agent and presses Enter, once the screen shows the text there. Never
 * types into a dialog, over unsent text, or while a person is at the keys. A line that an earlier try left there, because
 * it showed too late, is taken up. `stillWanted` is asked right before each key.
 */
export async function typeLine(
  tmux: TmuxCommands,
  pane: PaneInfo,
  text: string,
  context: { readonly now: () => number; readonly stillWanted: () => boolean },
): Promise<TypeOutcome> {
  const activity = await lastClientActivity(tmux, pane.sessionId);
  if (activity !== undefined && context.now() - activity * 1000 < limits.personQuietMs) {
    return { kind: 'put off', reason: 'a person is typing' };
  }
  const before = await read(tmux, pane);
  if (before.kind !== 'input') return { kind: 'put off', reason: `the screen shows ${describe(before)}` };
  if (before.text !== '' && before.text !== text)
    return { kind: 'put off', reason: 'the input line holds unsent text' };
  if (!context.stillWanted()) return { kind: 'put off', reason: 'called off' };
  if (before.text === '') await sendKeys(tmux, pane.paneId, { literal: text });
  if (!(await shows(tmux, pane, text))) {
    // What does not show as the input line may stand anywhere; Enter could answer something.
    return { kind: 'put off', reason: 'the typed text did not show in the input line' };
  }
  if (!context.stillWanted()) {
    await sendKeys(tmux, pane.paneId, { key: 'C-u' });
    return { kind: 'put off', reason: 'called off' };
  }
  await sendKeys(tmux, pane.paneId, { key: 'Enter' });
  return { kind: 'typed' };
}

async function shows(tmux: TmuxCommands, pane: PaneInfo, text: string): Promise<boolean> {
  const until = performance.now() + limits.echoMs;
  while (performance.now() < until) {
    const reading = await read(tmux, pane);
    if (reading.kind === 'input' && reading.text === text) return true;
    await delay(limits.echoEveryMs);
  }
  return false;
}

async function read(tmux: TmuxCommands, pane: PaneInfo): Promise<ScreenReading> {
  return readScreen(await capturePane(tmux, pane.paneId, { styles: 'escapes' }));
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
