import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { bowlineWindow } from './bowlineWindow.ts';

const keybindingsSchema = z.array(z.object({ key: z.string(), command: z.string() }));

describe('before the first agent', () => {
  it('has the Doctor look at everything, and starts nothing by it', async () => {
    const window = await bowlineWindow();
    const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
    const file = path.join(path.dirname(workspace), 'doctor.md');
    await vscode.commands.executeCommand('bowline.doctor', { file });
    const report = await readFile(file, 'utf8');
    const verdicts = new Map(
      [...report.matchAll(/^- \*\*(.+?)\*\* \((\w+)\)/gm)].map(([, subject, verdict]) => [subject, verdict] as const),
    );
    assert.deepStrictEqual(
      [verdicts.size, ...['tmux', 'gateway', 'node-pty', 'directories'].map((subject) => verdicts.get(subject))],
      [9, 'good', 'good', 'good', 'good'],
      report,
    );
    assert.deepStrictEqual([existsSync(process.env['BOWLINE_HOME'] ?? ''), window.connection.kind], [false, 'away']);
  });

  it("takes nobody's keys", async () => {
    const defaults = vscode.Uri.parse('vscode://defaultsettings/keybindings.json');
    const text = (await vscode.workspace.openTextDocument(defaults)).getText();
    const json = text.slice(text.indexOf('['), text.lastIndexOf(']') + 1).replace(/^\s*\/\/.*$/gm, '');
    const keybindings = keybindingsSchema.parse(JSON.parse(json));
    const ours = keybindings.filter(({ command }) => command.startsWith('bowline.'));
    const shared = keybindings.filter(
      ({ key, command }) => !command.startsWith('bowline.') && ours.some((one) => one.key === key),
    );
    assert.deepStrictEqual(
      [ours.map(({ command }) => command).sort(), shared],
      [['bowline.attach', 'bowline.nextWaiting', 'bowline.verifyAll'], []],
    );
  });
});
