import * as vscode from 'vscode';
import { exists } from '../node/files.ts';
import type { StatePaths } from '../node/statePaths.ts';

/** What a terminal is opened on. */
export interface TerminalAgent {
  readonly name: string;
  readonly directory: string;
}

/** Opens terminals on the agents' tmux sessions. */
export class AgentTerminals {
  constructor(
    private readonly paths: StatePaths,
    /** Path of the tmux program; rejects with `tmux-missing` or `tmux-too-old`. */
    private readonly locateTmux: () => Promise<string>,
  ) {}

  /**
   * Shows the terminal of an agent: the one that is open, else a new one. The agent must have a session. `keep` leaves the
   * focus where it is: for a terminal that comes by itself while the person may be typing elsewhere.
   */
  async attach({ name, directory }: TerminalAgent, focus: 'take' | 'keep' = 'take'): Promise<vscode.Terminal> {
    const open = this.find(name);
    if (open !== undefined) {
      open.show(focus === 'keep');
      return open;
    }
    const shellPath = await this.locateTmux();
    // A terminal does not open in a directory that is gone; the agent may well live.
    const cwd = (await exists(directory)) ? { cwd: directory } : {};
    const terminal = vscode.window.createTerminal({
      name,
      shellPath,
      shellArgs: this.attachArguments(name),
      ...cwd,
      // tmux and the agent go on without it; after a reload the person attaches again.
      isTransient: true,
      iconPath: new vscode.ThemeIcon('hubot'),
      // tmux refuses to attach inside of another tmux.
      env: { TMUX: null, TMUX_PANE: null },
    });
    terminal.show(focus === 'keep');
    return terminal;
  }

  /** Found by its arguments, so that terminals survive a restart of the extension host. */
  private find(name: string): vscode.Terminal | undefined {
    const wanted = JSON.stringify(this.attachArguments(name));
    return vscode.window.terminals.find(({ creationOptions, exitStatus }) => {
      return (
        exitStatus === undefined &&
        'shellArgs' in creationOptions &&
        JSON.stringify(creationOptions.shellArgs) === wanted
      );
    });
  }

  /** `-u`: UTF-8 whatever the locale. `=`: exactly this session, not one whose name begins like it. */
  private attachArguments(name: string): string[] {
    return ['-u', '-S', this.paths.fleetSocket, 'attach-session', '-t', `=${name}`];
  }
}
