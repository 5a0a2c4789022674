import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';
import type { FleetPresenter } from './fleetPresenter.ts';
import type { GatewayClient } from './gatewayClient.ts';

/** Has the Agents view say that there are no agents, but not before that is known. */
export class Welcome extends DisposableObject {
  private isOffered = false;

  constructor(
    private readonly presenter: FleetPresenter,
    private readonly client: GatewayClient,
  ) {
    super();
    this._register(
      presenter.onDidChange(() => {
        this.look();
      }),
    );
  }

  /** To be called once it is decided whether this window joins a fleet; then it looks by itself. */
  look(): void {
    const { agents, connection } = this.presenter.view;
    const { isStarted, startProblem } = this.client;
    const isKnown = !isStarted || connection.kind === 'connected' || startProblem !== undefined;
    if (this.isOffered || !isKnown || agents.length > 0) return;
    this.isOffered = true;
    void vscode.commands.executeCommand('setContext', 'bowline.fleetKnown', true);
  }
}
