import type { PaneInfo } from '../../core/tmux/formats.ts';
import { lastClientActivity } from '../tmux/paneOperations.ts';
import type { TmuxCommands } from '../tmux/tmuxClient.ts';
import { lookWhetherFree } from './typeLine.ts';

/**
 * How an agent that is to be put to sleep is in use all the same: a terminal is attached to one of its panes, or the
 * screen shows anything but an empty input line. Undefined: it is not.
 */
export async function useOf(
  tmux: TmuxCommands,
  panes: readonly PaneInfo[],
  now: () => number,
): Promise<string | undefined> {
  for (const pane of panes.filter(({ dead }) => !dead)) {
    if ((await lastClientActivity(tmux, pane.sessionId)) !== undefined) return 'a terminal is attached to it';
    const free = await lookWhetherFree(tmux, pane, '', { now, stillWanted: () => true });
    if (free.kind === 'taken') return free.reason;
  }
  return undefined;
}
