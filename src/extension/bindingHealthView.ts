import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type Disposable, DisposableObject, DisposableStore } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { type HostToWebviewMessage, type WebviewToHostMessage, webviewMessageSchema } from '../protocol/webview.ts';
import { bindingHealthHtml } from './bindingHealthHtml.ts';
import type { CommandId } from './commands/commandIds.ts';
import type { FleetPresenter } from './fleetPresenter.ts';

type PageCommand = Extract<WebviewToHostMessage, { kind: 'command' }>['command'];

const commandOf: Readonly<Record<PageCommand, CommandId>> = {
  attach: 'bowline.attach',
  verify: 'bowline.verifyBinding',
  reconnect: 'bowline.reconnectMcp',
  heal: 'bowline.healNow',
  restart: 'bowline.restart',
  showLog: 'bowline.showLog',
};

/**
 * Hosts the Binding Health page. The page holds no state of its own: it gets the present when it is ready, when it comes
 * into sight, and at each change meanwhile.
 */
export class BindingHealthView extends DisposableObject implements vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  private readonly dist: vscode.Uri;

  constructor(
    private readonly presenter: FleetPresenter,
    extensionUri: vscode.Uri,
    private readonly log: Log,
  ) {
    super();
    this.dist = vscode.Uri.joinPath(extensionUri, 'dist');
    this._register(vscode.window.registerWebviewViewProvider('bowline.bindingHealth', this));
    this._register(
      presenter.onDidChange(() => {
        this.post();
      }),
    );
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const { webview } = view;
    const address = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(this.dist, name)).toString();
    webview.options = { enableScripts: true, localResourceRoots: [this.dist] };
    const listeners: Disposable[] = [
      webview.onDidReceiveMessage((message: unknown) => {
        this.received(message);
      }),
      view.onDidChangeVisibility(() => {
        this.post();
      }),
    ];
    const owned = this._register(new DisposableStore());
    for (const listener of listeners) owned.add(listener);
    view.onDidDispose(() => {
      owned.dispose();
      if (this.view === view) this.view = undefined;
    });
    webview.html = bindingHealthHtml({
      source: webview.cspSource,
      nonce: randomBytes(18).toString('base64url'),
      scriptUri: address('webview.js'),
      codiconUri: address('codicon.css'),
    });
  }

  private received(message: unknown): void {
    const parsed = webviewMessageSchema.safeParse(message);
    if (!parsed.success) {
      this.log.warn('the Binding Health page sent something unknown');
      return;
    }
    if (parsed.data.kind === 'ready') {
      this.post();
      return;
    }
    const { command, agent, server, agents } = parsed.data;
    const target = {
      ...(agent !== undefined && { agent }),
      ...(server !== undefined && { server }),
      ...(agents !== undefined && { agents }),
    };
    void vscode.commands.executeCommand(commandOf[command], target);
  }

  private post(): void {
    if (this.view?.visible !== true) return;
    const message: HostToWebviewMessage = { kind: 'view', view: this.presenter.view, now: Date.now() };
    void this.view.webview.postMessage(message);
  }
}
