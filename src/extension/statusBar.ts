import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';
import type { CommandId } from './commands/commandIds.ts';
import type { FleetPresenter } from './fleetPresenter.ts';
import { type ReportLine, type StatusLook, statusLook, statusReport } from './statusLook.ts';

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
  private drawn = '';

  constructor(
    private readonly presenter: FleetPresenter,
    private readonly problems: StatusProblems,
  ) {
    super();
    this.item.name = 'Bowline Fleet';
    this.item.command = 'bowline.showCauses';
    this._register(
      presenter.onDidChangeNow(() => {
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
    const { view } = this.presenter;
    const look = statusLook(view, {
      startProblem: this.problems.startProblem(),
      handsProblem: this.problems.handsProblem(),
    });
    this.current = look;
    const report = look === undefined ? [] : statusReport(view, look);
    // An item that is set anew closes the tooltip that a person reads.
    const drawn = JSON.stringify([look, report]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    if (look === undefined) {
      this.item.hide();
      return;
    }
    this.item.text = look.text;
    this.item.tooltip = tooltip(report);
    this.item.accessibilityInformation = { label: look.accessibleLabel, role: 'button' };
    this.item.backgroundColor =
      look.background === 'none' ? undefined : new vscode.ThemeColor(`statusBarItem.${look.background}Background`);
    this.item.show();
  }
}

/** Names come from elsewhere: they are appended as text, never as Markdown. */
function tooltip(lines: readonly ReportLine[]): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString('', true);
  const commands = lines.flatMap(({ links }) => links.map(({ command }) => command));
  markdown.isTrusted = { enabledCommands: [...new Set(commands)] satisfies CommandId[] };
  for (const { text, links } of lines) {
    if (text !== '') markdown.appendText(text);
    for (const [index, { label, command, agent }] of links.entries()) {
      const argument = agent === undefined ? '' : `?${encodeURIComponent(JSON.stringify([agent]))}`;
      markdown.appendMarkdown(`${index > 0 ? ' · ' : text === '' ? '' : ' '}[${label}](command:${command}${argument})`);
    }
    markdown.appendMarkdown('\n\n');
  }
  return markdown;
}
