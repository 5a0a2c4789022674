import * as vscode from 'vscode';
import { exists } from '../../node/files.ts';
import type { CommandContext } from './commandContext.ts';

/** Opens this window's log, and offers the log of the gateway. */
export async function showLog({ log, paths }: CommandContext): Promise<void> {
  log.show();
  const file = paths.log('gateway');
  if (!(await exists(file))) return;
  const open = 'Open Gateway Log';
  const offer = vscode.window.showInformationMessage('The gateway keeps a log of its own.', open);
  void offer.then((chosen) => {
    if (chosen === open) void vscode.window.showTextDocument(vscode.Uri.file(file));
  });
}
