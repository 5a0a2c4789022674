import { messageOf } from '../../base/errors.ts';
import { lineOption, promptOption } from '../../core/tmux/formats.ts';
import { onlyIf } from './paneOperations.ts';
import type { TmuxCommands } from './tmuxClient.ts';

/** A pane at one moment. */
export interface PaneLook {
  /** With escapes, one text per row. */
  readonly lines: readonly string[];
  /** `<column>/<row>`. Every dialog of Claude moves it away from the end of the input line (measured, 2.1.160 and 2.1.332). */
  readonly cursor: string;
  /** What {@link pasteGuarded} or {@link enterGuarded} left here last; empty: nothing. */
  readonly mark: string;
  /** The `line` of the last {@link enterGuarded} or {@link escapeGuarded} that had one; empty: none. */
  readonly line: string;
}

/** `done`, or nothing was sent because the cursor stands elsewhere, or the mark is another, than at the look. */
export type GuardedOutcome = 'done' | 'changed';

const buffer = 'bowline';
const changed = 'screen-changed';

/** The screen, the cursor and the mark of one and the same moment. */
export async function lookAtPane(tmux: TmuxCommands, paneId: string): Promise<PaneLook> {
  const [lines = [], facts = [], [line = ''] = []] = await tmux.commands([
    ['capture-pane', '-p', '-e', '-t', paneId],
    ['display-message', '-p', '-t', paneId, `#{cursor_x}/#{cursor_y} #{${promptOption}}`],
    ['display-message', '-p', '-t', paneId, `#{${lineOption}}`],
  ]);
  const [cursor = '', ...mark] = (facts[0] ?? '').split(' ');
  return { lines, cursor, line, mark: mark.join(' ') };
}

/**
 * Pastes text, in brackets, if the cursor still stands where it stood at the look. A dialog of Claude drops what is pasted
 * into it, digits, `y` and line ends too, and stays as it is; not one of the trust, MCP approval and permission dialogs
 * was answered by a paste (measured, claude 2.1.160 and 2.1.332). `mark` is set on the pane in the same go, so that it
 * tells for good whether this was done.
 */
export function pasteGuarded(
  tmux: TmuxCommands,
  paneId: string,
  look: PaneLook,
  paste: { readonly text: string; readonly mark?: string },
): Promise<GuardedOutcome> {
  return guarded(tmux, paneId, look, [
    ...marking(paneId, paste.mark),
    ['set-buffer', '-b', buffer, '--', paste.text],
    // -p: brackets; -r: a line end stays one, where tmux would make an Enter of it; -d: the text is not kept.
    ['paste-buffer', '-p', '-r', '-d', '-b', buffer, '-t', paneId],
  ]);
}

/**
 * Presses Enter if the cursor still stands where it stood at the look: an Enter answers a dialog (measured, both versions,
 * also right after a paste). tmux itself compares, in the moment of the key; only what Claude has not drawn yet is missed.
 * `mark` and `line` are set on the pane in the same go.
 */
export function enterGuarded(
  tmux: TmuxCommands,
  paneId: string,
  look: PaneLook,
  options: { readonly mark?: string; readonly line?: string } = {},
): Promise<GuardedOutcome> {
  return guarded(tmux, paneId, look, [
    ...marking(paneId, options.mark),
    ...(options.line === undefined ? [] : [['set-option', '-p', '-t', paneId, lineOption, options.line]]),
    ['send-keys', '-t', paneId, '--', 'Enter'],
  ]);
}

/** Presses Escape if the cursor still stands where it stood at the look; `line` is set on the pane in the same go. */
export function escapeGuarded(
  tmux: TmuxCommands,
  paneId: string,
  look: PaneLook,
  { line }: { readonly line: string },
): Promise<GuardedOutcome> {
  return guarded(tmux, paneId, look, [
    ['set-option', '-p', '-t', paneId, lineOption, line],
    ['send-keys', '-t', paneId, '--', 'Escape'],
  ]);
}

async function guarded(
  tmux: TmuxCommands,
  paneId: string,
  { cursor, mark }: PaneLook,
  commands: readonly (readonly string[])[],
): Promise<GuardedOutcome> {
  const isAsSeen = `#{==:#{cursor_x}/#{cursor_y}/#{${promptOption}},${cursor}/${mark}}`;
  try {
    await tmux.commands([onlyIf(paneId, isAsSeen, changed), ['copy-mode', '-q', '-t', paneId], ...commands]);
    return 'done';
  } catch (error) {
    if (messageOf(error).includes(changed)) return 'changed';
    // The text is not left to be read in tmux; most often there is none.
    await tmux.command(['delete-buffer', '-b', buffer]).catch(() => undefined);
    throw error;
  }
}

function marking(paneId: string, mark: string | undefined): readonly (readonly string[])[] {
  return mark === undefined ? [] : [['set-option', '-p', '-t', paneId, promptOption, mark]];
}
