import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';
import { auditText } from './auditText.ts';
import type { FleetPresenter } from './fleetPresenter.ts';

const scheme = 'bowline-audit';

/** Shows what was done to agents in read-only editors that follow the fleet. */
export class AuditDocuments extends DisposableObject {
  private readonly changed = this._register(new vscode.EventEmitter<vscode.Uri>());
  private shown: readonly unknown[] = [];

  constructor(
    private readonly presenter: FleetPresenter,
    private readonly window: string,
  ) {
    super();
    this._register(
      vscode.workspace.registerTextDocumentContentProvider(scheme, {
        onDidChange: this.changed.event,
        provideTextDocumentContent: (uri) => this.textOf(uri),
      }),
    );
    this._register(
      presenter.onDidChange(() => {
        const inputs = [presenter.state.audit, presenter.view.connection.kind];
        if (inputs.every((input, index) => input === this.shown[index])) return;
        this.shown = inputs;
        for (const { uri } of vscode.workspace.textDocuments) if (uri.scheme === scheme) this.changed.fire(uri);
      }),
    );
  }

  /** `agent` undefined: the whole fleet. */
  async show(agent: string | undefined): Promise<void> {
    const path = `/Audit of ${agent ?? 'the fleet'}.md`;
    const uri = vscode.Uri.from({ scheme, path, ...(agent !== undefined && { query: agent }) });
    this.changed.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
  }

  private textOf({ query }: vscode.Uri): string {
    const { state, view } = this.presenter;
    return auditText(state, {
      ...(query !== '' && { agent: query }),
      window: this.window,
      locale: vscode.env.language,
      connection: view.connection,
    });
  }
}
