import * as vscode from 'vscode';
import { BowlineError, messageOf } from '../../base/errors.ts';

/** Rejects with a sentence that names the file. */
export async function writeReport(uri: vscode.Uri, report: string): Promise<void> {
  try {
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(report));
  } catch (error) {
    const sentence = `The report cannot be written to ${uri.fsPath} (${messageOf(error)}). Choose another place.`;
    throw new BowlineError('bad-request', sentence, { cause: error });
  }
}
