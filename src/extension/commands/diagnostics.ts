import { homedir } from 'node:os';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { loadReports } from '../loadReports.ts';
import { tmuxPathSetting } from '../settings.ts';
import type { CommandContext } from './commandContext.ts';
import { withProgress } from './interaction.ts';
import { writeReport } from './writeReport.ts';

/** A script names the file itself. */
const targetSchema = z.object({ file: z.string().check(z.startsWith('/')) });

/** Writes one redacted file that lets a stranger understand a fault. Needs no gateway. */
export async function exportDiagnostics(context: CommandContext, argument: unknown): Promise<void> {
  const target = targetSchema.safeParse(argument);
  const uri = target.success ? vscode.Uri.file(target.data.file) : await askForFile();
  if (uri === undefined) return;
  const { paths, client, presenter, windowFacts } = context;
  await withProgress('Bowline: collecting diagnostics', async (signal, say) => {
    const { collectDiagnostics } = await loadReports();
    const report = await collectDiagnostics({
      paths,
      environment: process.env,
      now: Date.now,
      connection: client.connection,
      state: presenter.state,
      facts: windowFacts.facts(),
      logFiles: windowFacts.logFiles,
      tmuxPath: tmuxPathSetting(),
      signal,
      say,
    });
    say('writing the file');
    await writeReport(uri, report);
  });
  const open = 'Open';
  const sentence = `Diagnostics are in ${uri.fsPath}. Secrets are taken out; read it before you give it away.`;
  void vscode.window.showInformationMessage(sentence, open).then((chosen) => {
    if (chosen === open) void vscode.window.showTextDocument(uri);
  });
}

function askForFile(): Thenable<vscode.Uri | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir());
  const name = `bowline-diagnostics-${new Date().toISOString().slice(0, 16).replaceAll(':', '')}.md`;
  return vscode.window.showSaveDialog({
    title: 'Export Diagnostics',
    saveLabel: 'Export',
    defaultUri: vscode.Uri.joinPath(folder, name),
    filters: { Markdown: ['md'] },
  });
}
