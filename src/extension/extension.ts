import * as vscode from 'vscode';
import { yieldToOthers } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import { commandIds } from './commands/commandIds.ts';
import type { BowlineWindow, RunningWindow } from './fleetWindow.ts';

/**
 * What VS Code waits for at its start: commands, which wait for the rest. The rest is loaded right after, whether it is
 * needed or not, because an update may remove the files of a window that is open.
 */
export async function activate(context: vscode.ExtensionContext): Promise<BowlineWindow> {
  const opening = open(context);
  for (const id of commandIds) {
    const run = async (argument: unknown, selection: unknown): Promise<void> =>
      (await opening).run(id, argument, selection);
    context.subscriptions.push(vscode.commands.registerCommand(id, run));
  }
  return (await opening).shown;
}

async function open(context: vscode.ExtensionContext): Promise<RunningWindow> {
  await yieldToOthers();
  try {
    const { openWindow } = await import('./window.ts');
    return await openWindow(context);
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n'); // Node tells who required what below
    const sentence = `Bowline could not be loaded from ${context.extensionPath}: ${reason}. Reload the window; if that does not help, install Bowline again.`;
    throw new Error(sentence, { cause: error });
  }
}
