import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { commandIds } from '../../src/extension/commands/commandIds.ts';
import { bowlineWindow, treeRows } from './bowlineWindow.ts';

describe('activation', () => {
  it('registers every command', async () => {
    await bowlineWindow();
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.deepStrictEqual(
      commandIds.filter((id) => !registered.has(id)),
      [],
    );
  });

  it('starts nothing and shows nothing on a machine without a fleet', async () => {
    const window = await bowlineWindow();
    assert.deepStrictEqual(
      [existsSync(process.env['BOWLINE_HOME'] ?? ''), window.connection.kind, window.statusBar, await treeRows(window)],
      [false, 'away', undefined, []],
    );
  });

  it('opens both views', async () => {
    await vscode.commands.executeCommand('bowline.agents.focus');
    await vscode.commands.executeCommand('bowline.bindingHealth.focus');
  });
});
