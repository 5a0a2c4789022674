import * as vscode from 'vscode';
import type { CommandContext } from './commandContext.ts';
import { connect } from './interaction.ts';

/** Has the person choose which agents may notify. */
export async function notificationsOf(context: CommandContext): Promise<void> {
  const { presenter, muted } = context;
  if (presenter.view.agents.length === 0) await connect(context);
  const { agents } = presenter.view;
  if (agents.length === 0) {
    void vscode.window.showInformationMessage('There are no agents yet, so none notifies you.');
    return;
  }
  const items = agents.map(({ name, directory }) => ({
    label: name,
    description: directory,
    picked: !muted.has(name),
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Which agents may notify you when they need you?',
    placeHolder: 'All stand in the Agents view and the status bar',
    canPickMany: true,
  });
  if (chosen === undefined) return;
  const wanted = new Set(chosen.map(({ label }) => label));
  await muted.set(agents.map(({ name }) => name).filter((name) => !wanted.has(name)));
}
