import type { PaneInfo } from '../../src/core/tmux/formats.ts';

/** A pane in which the first launch of ada runs. */
export const livingPane: PaneInfo = {
  sessionId: '$1',
  sessionName: 'ada',
  windowId: '@1',
  paneId: '%1',
  pid: 4711,
  dead: false,
  launchId: 'ada.1',
};
