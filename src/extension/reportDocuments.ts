import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';

const scheme = 'bowline-report';

/** Shows restart plans and the Doctor's report in read-only editors, one for each title. */
export class ReportDocuments extends DisposableObject {
  private readonly texts = new Map<string, string>();
  private readonly changed = this._register(new vscode.EventEmitter<vscode.Uri>());

  constructor() {
    super();
    this._register(
      vscode.workspace.registerTextDocumentContentProvider(scheme, {
        onDidChange: this.changed.event,
        provideTextDocumentContent: ({ path }) => this.texts.get(path) ?? 'Ask for this report again.',
      }),
    );
  }

  async show(title: string, text: string): Promise<void> {
    const path = `/${title}.md`;
    const uri = vscode.Uri.from({ scheme, path });
    this.texts.set(path, text);
    this.changed.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
  }
}
