import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';
import { lostAgents, openRestoration } from '../core/fleet/restore.ts';
import type { FleetPresenter } from './fleetPresenter.ts';
import type { GatewayClient } from './gatewayClient.ts';
import { namesToHeal } from './healProgress.ts';

/** Keeps what the `when` clauses of the manifest ask for. */
export class ContextKeys extends DisposableObject {
  private readonly known = new Map<string, boolean>();

  constructor(
    private readonly presenter: FleetPresenter,
    private readonly client: GatewayClient,
  ) {
    super();
    const look = (): void => {
      this.look();
    };
    this._register(presenter.onDidChange(look));
    this._register(client.onStartProblem(look));
    this._register(client.onDidConnect(look));
    look();
  }

  private look(): void {
    const { view } = this.presenter;
    const { state, startProblem } = this.client;
    this.set('bowline.hasAgents', view.agents.length > 0);
    this.set('bowline.lostTools', namesToHeal(view).length > 0);
    this.set('bowline.lostWithHost', lostAgents(state).length > 0 || openRestoration(state) !== undefined);
    this.set('bowline.gatewayProblem', view.connection.kind === 'away' && startProblem !== undefined);
  }

  private set(key: string, value: boolean): void {
    if ((this.known.get(key) ?? false) === value) return;
    this.known.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  }
}
