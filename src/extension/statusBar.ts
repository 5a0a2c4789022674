import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';
import type { CommandId } from './commands/commandIds.ts';
import type { FleetPresenter } from './fleetPresenter.ts';
import { type StatusLook, statusLook } from './statusLook.ts';

/** Why something waits, asked when the item is drawn. */
export interface StatusProblems {
  startProblem(): string | undefined;
  handsProblem(): string | undefined;
}

/** The status bar item: calm, or with a background and names when agents lost their tools. */
export class StatusBar extends DisposableObject {
  // The id is part of the item's DOM id (bowline.bowline.fleet).
  private readonly item = this._register(
    vscode.window.createStatusBarItem('fleet', vscode.StatusBarAlignment.Left, 10),
  );
  private current: StatusLook | undefined;

  constructor(
    private readonly presenter: FleetPresenter,
    private readonly problems: StatusProblems,
  ) {
    super();
    this.item.name = 'Bowline Fleet';
    this.item.command = 'bowline.showCauses';
    this._register(
      presenter.onDidChange(() => {
        this.draw();
      }),
    );
    this.draw();
  }

  /** What is shown now; undefined while the item is hidden. */
  get shown(): StatusLook | undefined {
    return this.current;
  }

  draw(): void {
    const look = statusLook(this.presenter.view, {
      startProblem: this.problems.startProblem(),
      handsProblem: this.problems.handsProblem(),
    });
    this.current = look;
    if (look === undefined) {
      this.item.hide();
      return;
    }
    this.item.text = look.text;
    this.item.tooltip = look.healing === 'offered' ? withHealing(look.tooltip) : look.tooltip;
    this.item.accessibilityInformation = { label: look.accessibleLabel, role: 'button' };
    this.item.backgroundColor =
      look.background === 'none' ? undefined : new vscode.ThemeColor(`statusBarItem.${look.background}Background`);
    this.item.show();
  }
}

/** Names come from elsewhere: they are appended as text, never as Markdown. */
function withHealing(text: string): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString('', true);
  markdown.isTrusted = { enabledCommands: ['bowline.healAll'] satisfies CommandId[] };
  for (const line of text.split('\n')) markdown.appendText(line).appendMarkdown('\n\n');
  return markdown.appendMarkdown('[$(heart) Heal All](command:bowline.healAll)');
}
