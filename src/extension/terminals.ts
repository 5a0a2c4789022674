import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';
import { exists } from '../node/files.ts';
import type { StatePaths } from '../node/statePaths.ts';
import { agentColor, readTerminalLocation } from './terminalLook.ts';

/** What a terminal is opened on. */
export interface TerminalAgent {
  readonly name: string;
  readonly directory: string;
}

/** Opens terminals on the agents' tmux sessions. */
export class AgentTerminals extends DisposableObject {
  constructor(
    private readonly paths: StatePaths,
    /** Path of the tmux program; rejects with `tmux-missing` or `tmux-too-old`. */
    private readonly locateTmux: () => Promise<string>,
    /** Told when the person closed the terminal of this agent, which ends nothing but the terminal. */
    closed: (name: string) => void,
  ) {
    super();
    this._register(
      vscode.window.onDidCloseTerminal((terminal) => {
        const name = this.agentOf(terminal);
        if (name !== undefined && terminal.exitStatus?.reason === vscode.TerminalExitReason.User) closed(name);
      }),
    );
  }

  /** Whose terminal has the focus, or had it last, while this window is in front; undefined: none. */
  get inUse(): string | undefined {
    const { activeTerminal, state } = vscode.window;
    return state.focused && activeTerminal !== undefined ? this.agentOf(activeTerminal) : undefined;
  }

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
    // Asked for twice at once, it is opened once.
    const meanwhile = this.find(name);
    const terminal =
      meanwhile ??
      vscode.window.createTerminal({
        name,
        shellPath,
        shellArgs: this.attachArguments(name),
        ...cwd,
        // tmux and the agent go on without it; after a reload the person attaches again.
        isTransient: true,
        iconPath: new vscode.ThemeIcon('hubot'),
        color: new vscode.ThemeColor(agentColor(name)),
        location: location(focus),
        // tmux refuses to attach inside of another tmux.
        env: { TMUX: null, TMUX_PANE: null },
      });
    terminal.show(focus === 'keep');
    return terminal;
  }

  /** Found by its arguments, so that terminals survive a restart of the extension host. */
  private find(name: string): vscode.Terminal | undefined {
    return vscode.window.terminals.find((one) => one.exitStatus === undefined && this.agentOf(one) === name);
  }

  private agentOf({ creationOptions }: vscode.Terminal): string | undefined {
    if (!('shellArgs' in creationOptions) || !Array.isArray(creationOptions.shellArgs)) return undefined;
    const name = /^=(.*)$/.exec(creationOptions.shellArgs.at(-1) ?? '')?.[1];
    const isOurs = name !== undefined && this.attachArguments(name).join('\0') === creationOptions.shellArgs.join('\0');
    return isOurs ? name : undefined;
  }

  /** `-u`: UTF-8 whatever the locale. `=`: exactly this session, not one whose name begins like it. */
  private attachArguments(name: string): string[] {
    return ['-u', '-S', this.paths.fleetSocket, 'attach-session', '-t', `=${name}`];
  }
}

function location(focus: 'take' | 'keep'): vscode.TerminalLocation | vscode.TerminalEditorLocationOptions {
  const where = readTerminalLocation(vscode.workspace.getConfiguration('bowline').get<unknown>('terminalLocation'));
  switch (where) {
    case 'panel':
      return vscode.TerminalLocation.Panel;
    case 'editor':
      return { viewColumn: vscode.ViewColumn.Active, preserveFocus: focus === 'keep' };
    case 'beside':
      return { viewColumn: vscode.ViewColumn.Beside, preserveFocus: focus === 'keep' };
  }
}
