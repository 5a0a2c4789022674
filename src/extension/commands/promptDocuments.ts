import * as vscode from 'vscode';

/** The untitled documents in which prompts are written, and whom each is for. */
const agents = new WeakMap<vscode.TextDocument, string>();

/** Editors of these documents show the button that sends them. */
const contextKey = 'bowline.promptDocuments';

/** Opens an editor for a prompt of several lines. */
export async function openPromptDocument(agent: string, content: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ language: 'markdown', content });
  agents.set(document, agent);
  await showSendButtons();
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  const end = document.lineAt(document.lineCount - 1).range.end;
  editor.selection = new vscode.Selection(end, end);
  vscode.window.setStatusBarMessage(`$(edit) Prompt for ${agent}: send it with the button at the top right`, 12_000);
}

/** Whom the document is for; undefined: it is no prompt. */
export function promptAgentOf(document: vscode.TextDocument): string | undefined {
  return agents.get(document);
}

async function showSendButtons(): Promise<void> {
  const open = vscode.workspace.textDocuments.filter((document) => agents.has(document));
  await vscode.commands.executeCommand(
    'setContext',
    contextKey,
    open.map(({ uri }) => uri.toString()),
  );
}
