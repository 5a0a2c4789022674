/** One pane as tmux sees it. */
export interface PaneInfo {
  /** `$1` */
  readonly sessionId: string;
  readonly sessionName: string;
  /** `@1` */
  readonly windowId: string;
  /** `%1` */
  readonly paneId: string;
  /** The pane's process. Stays known after its death. */
  readonly pid: number;
  readonly dead: boolean;
  /** Exit status of a dead pane's process that ended by itself. */
  readonly deadStatus?: number;
  /** The signal that ended a dead pane's process, as tmux writes it: `9` in 3.3a. Empty before 3.3. */
  readonly deadSignal?: string;
  /** The pane option `@bowline_launch`; empty when the pane was not started by Bowline. */
  readonly launchId: string;
}

/** What a dead pane shows below the last words of its process. */
export const endedPaneText = 'The process of this agent has ended.';

/** Pane option that ties a pane to a launch. */
export const launchOption = '@bowline_launch';

/** Pane option that tells which prompt was pasted into the pane last, and how far that went. */
export const promptOption = '@bowline_prompt';

/** Pane option that tells for which attempt of the healing a line was submitted last. */
export const lineOption = '@bowline_line';

/**
 * Server option that carries a directory to `-c`. tmux expands `-c` as a format, and no escaping stops it: `##[` stays
 * `##[`, and `%` is a time only in some texts (measured, tmux 3.3a). The value of an option is not expanded again.
 */
export const directoryOption = '@bowline_directory';
export const directoryFormat = `#{${directoryOption}}`;

/** Session option with the names of the variables that Bowline set for the pane's process, separated by spaces. */
export const environmentOption = '@bowline_environment';

/** Texts are escaped with `q:` (a backslash before spaces and the like), so the separator stays unique. */
const fields = [
  'session_id',
  'window_id',
  'pane_id',
  'pane_pid',
  'pane_dead',
  'pane_dead_status',
  'pane_dead_signal',
  `q:${launchOption}`,
  'q:session_name',
];

/** For `-F` of `list-panes`; one line is one {@link parsePane}. */
export const paneFormat = fields.map((field) => `#{${field}}`).join(' ');

const paneEnd = '#{?pane_dead,:#{pane_dead_status}#{pane_dead_signal},}';

/** Name of the subscription that tells that a pane came, went or ended. */
export const paneSubscription = 'fleet';

/**
 * For `refresh-client -B`: of all panes of the whole server (`%*` would cover the client's own session only) what changes
 * when one comes, goes or ends, or when tmux learns later how it ended. tmux expands it every second: each field costs it
 * processor time for every pane, so those of a dead one stand behind a condition.
 */
export const paneSubscriptionFormat = `${paneSubscription}::#{S:#{W:#{P:#{pane_pid}${paneEnd};}}}`;

/** Reads one line of {@link paneFormat}; `undefined` if it is not one. */
export function parsePane(line: string): PaneInfo | undefined {
  const values = splitEscaped(line).map(unescape);
  const [sessionId, windowId, paneId, pid, dead, deadStatus, deadSignal, launchId, sessionName] = values;
  if (values.length !== fields.length || sessionId === undefined || windowId === undefined || paneId === undefined) {
    return undefined;
  }
  if (!/^\$\d+$/.test(sessionId) || !/^@\d+$/.test(windowId) || !/^%\d+$/.test(paneId)) return undefined;
  return {
    sessionId,
    sessionName: sessionName ?? '',
    windowId,
    paneId,
    pid: Number(pid),
    dead: dead === '1',
    ...(deadStatus !== undefined && deadStatus !== '' && { deadStatus: Number(deadStatus) }),
    ...(deadSignal !== undefined && deadSignal !== '' && { deadSignal }),
    launchId: launchId ?? '',
  };
}

/** Splits at spaces before which no backslash stands. */
function splitEscaped(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === ' ') {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function unescape(text: string): string {
  return text.replace(/\\(.)/gsu, '$1');
}
