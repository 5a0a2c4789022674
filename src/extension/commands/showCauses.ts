import * as vscode from 'vscode';
import type { CommandContext } from './commandContext.ts';
import { openSetting } from '../openSetting.ts';
import { type CauseAction, causeLines } from './causes.ts';

type CauseItem = vscode.QuickPickItem & { readonly action?: CauseAction };

/** Lists what is wrong with the fleet and what can be done about it. */
export async function showCauses({ client, presenter }: CommandContext): Promise<void> {
  const items = causeLines(presenter.view, client.startProblem?.message).map((line): CauseItem => {
    switch (line.kind) {
      case 'heading':
        return { label: line.label, kind: vscode.QuickPickItemKind.Separator };
      case 'cause':
        return { label: line.label, detail: line.detail };
      case 'action':
        return { label: line.label, detail: line.detail, action: line.action };
    }
  });
  const picked = await vscode.window.showQuickPick(items, {
    title: `Bowline: ${presenter.view.status.text === '' ? 'no agents' : presenter.view.status.text}`,
    placeHolder: 'Causes and actions',
    matchOnDetail: true,
  });
  if (picked?.action === undefined) return;
  if (picked.action.kind === 'try again') {
    client.start();
    return;
  }
  if (picked.action.kind === 'open setting') {
    await openSetting(picked.action.setting);
    return;
  }
  const { command, agent, server } = picked.action;
  const target = { ...(agent !== undefined && { agent }), ...(server !== undefined && { server }) };
  await vscode.commands.executeCommand(command, agent === undefined ? undefined : target);
}
