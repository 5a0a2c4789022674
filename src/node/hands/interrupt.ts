import { readScreen } from '../../core/claude/screen.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import { escapeGuarded, lookAtPane } from '../tmux/guardedKeys.ts';
import { lastClientActivity } from '../tmux/paneOperations.ts';
import type { TmuxCommands } from '../tmux/tmuxClient.ts';
import { personQuietMs, type TypingContext } from './typeLine.ts';

/** `refused`: it must not be pressed, and nothing will change that. `put off`: to be tried again. */
export type InterruptStep =
  { readonly kind: 'pressed' } | { readonly kind: 'put off' } | { readonly kind: 'refused'; readonly reason: string };

/**
 * Presses Escape once if the screen shows a turn in progress. It ends the turn within 0.2 s, a tool call too, leaves
 * unsent text below as it is, and may bring the prompt back into an empty input line (measured, claude 2.1.160 and
 * 2.1.332). A dialog would take it for a "no", and an idle agent for a wish to go back: never there. The id is left on
 * the pane with the key, so that whoever is asked again finds it pressed.
 */
export async function interruptTurn(
  tmux: TmuxCommands,
  pane: PaneInfo,
  interruptId: string,
  context: TypingContext,
): Promise<InterruptStep> {
  const look = await lookAtPane(tmux, pane.paneId);
  if (look.line === interruptId) return { kind: 'pressed' };
  const reading = readScreen(look.lines);
  if (reading.kind === 'dialog') {
    return { kind: 'refused', reason: `a dialog (${reading.dialog}) is open, which Escape would answer` };
  }
  if (reading.kind !== 'busy') return { kind: 'put off' };
  const activity = await lastClientActivity(tmux, pane.sessionId);
  if (activity !== undefined && context.now() - activity * 1000 < personQuietMs) return { kind: 'put off' };
  if (!context.stillWanted()) return { kind: 'put off' };
  const outcome = await escapeGuarded(tmux, pane.paneId, look, { line: interruptId });
  return { kind: outcome === 'done' ? 'pressed' : 'put off' };
}
