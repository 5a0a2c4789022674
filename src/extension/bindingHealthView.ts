import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type Disposable, DisposableObject, DisposableStore } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import type { FleetView } from '../core/fleet/select.ts';
import { changesBetween } from '../core/fleet/viewChanges.ts';
import { type HostToWebviewMessage, type WebviewToHostMessage, webviewMessageSchema } from '../protocol/webview.ts';
import { bindingHealthHtml } from './bindingHealthHtml.ts';
import { SeenProbes } from './bindingHealthProbes.ts';
import type { CommandId } from './commands/commandIds.ts';
import type { FleetPresenter } from './fleetPresenter.ts';
import type { GatewayClient } from './gatewayClient.ts';

type PageMessage<K extends WebviewToHostMessage['kind']> = Extract<WebviewToHostMessage, { kind: K }>;
type Told = Pick<HostToWebviewMessage, 'now' | 'opening' | 'probes'>;

const commandOf: Readonly<Record<PageMessage<'command'>['command'], CommandId>> = {
  attach: 'bowline.attach',
  verify: 'bowline.verifyBinding',
  reconnect: 'bowline.reconnectMcp',
  reconnectUpstream: 'bowline.reconnectUpstream',
  heal: 'bowline.healNow',
  restart: 'bowline.restart',
  showLog: 'bowline.showLog',
  newAgent: 'bowline.newAgent',
};

/**
 * Hosts the Binding Health page. The page holds no state of its own: it gets the present when it is ready, and then what
 * changes while it is in sight. VS Code ends a page that is hidden or moved, and loads it anew.
 */
export class BindingHealthView extends DisposableObject implements vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  /** What the page has and shows; absent: it has nothing yet. */
  private sent: { readonly view: FleetView; readonly told: string } | undefined;
  private watched: PageMessage<'watch'> = { kind: 'watch' };
  private readonly probes = new SeenProbes();
  private readonly dist: vscode.Uri;

  constructor(
    private readonly presenter: FleetPresenter,
    private readonly client: Pick<GatewayClient, 'isStarted' | 'startProblem' | 'onStartProblem'>,
    extensionUri: vscode.Uri,
    private readonly log: Log,
  ) {
    super();
    this.dist = vscode.Uri.joinPath(extensionUri, 'dist');
    this._register(vscode.window.registerWebviewViewProvider('bowline.bindingHealth', this));
    const post = (): void => {
      this.probes.look(presenter.state.agents);
      this.post();
    };
    this._register(presenter.onDidChange(post));
    this._register(client.onStartProblem(post));
    this.probes.look(presenter.state.agents);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.sent = undefined;
    const { webview } = view;
    const address = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(this.dist, name)).toString();
    webview.options = { enableScripts: true, localResourceRoots: [this.dist] };
    const listeners: Disposable[] = [
      webview.onDidReceiveMessage((message: unknown) => {
        this.received(message);
      }),
      view.onDidChangeVisibility(() => {
        if (view.visible) this.post();
        else this.sent = undefined;
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
    switch (parsed.data.kind) {
      case 'ready':
        this.sent = undefined;
        this.post();
        return;
      case 'watch':
        this.watched = parsed.data;
        this.post();
        return;
      case 'command': {
        const { kind: _kind, command, ...target } = parsed.data;
        void vscode.commands.executeCommand(commandOf[command], target);
      }
    }
  }

  /** Sends what the page does not have yet; nothing where it has all. */
  private post(): void {
    if (this.view?.visible !== true) return;
    const { view } = this.presenter;
    const { agent, server } = this.watched;
    const told: Omit<Told, 'now'> = {
      ...this.opening(view),
      ...(agent !== undefined &&
        server !== undefined && { probes: { agent, server, probes: this.probes.of(agent, server) } }),
    };
    const text = JSON.stringify(told);
    const changes = this.sent === undefined ? undefined : changesBetween(this.sent.view, view);
    if (this.sent !== undefined && changes === undefined && text === this.sent.told) return;
    const now = Date.now();
    const message: HostToWebviewMessage =
      this.sent === undefined
        ? { kind: 'view', view, now, ...told }
        : { kind: 'changes', changes: changes ?? {}, now, ...told };
    this.sent = { view, told: text };
    void this.view.webview.postMessage(message);
  }

  private opening({ connection }: FleetView): Pick<Told, 'opening'> {
    const { isStarted, startProblem } = this.client;
    if (!isStarted || connection.kind === 'connected') return {};
    if (startProblem === undefined) return { opening: { kind: 'connecting' } };
    return { opening: { kind: 'cannot start', sentence: startProblem.message } };
  }
}
