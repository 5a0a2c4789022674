import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';

const scheme = 'bowline-restart-plan';

/** Shows restart plans in read-only editors, one for each agent. */
export class RestartPlanDocuments extends DisposableObject {
  private readonly texts = new Map<string, string>();
  private readonly changed = this._register(new vscode.EventEmitter<vscode.Uri>());

  constructor() {
    super();
    this._register(
      vscode.workspace.registerTextDocumentContentProvider(scheme, {
        onDidChange: this.changed.event,
        provideTextDocumentContent: (uri) => this.texts.get(uri.toString()) ?? 'Use Show Restart Plan again.',
      }),
    );
  }

  async show(agent: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme, path: `/Restart Plan of ${agent}.md` });
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
  }
}
