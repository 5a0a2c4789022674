import * as vscode from 'vscode';
import { messageOf } from '../base/errors.ts';
import { DisposableObject } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import type { GatewayClient } from './gatewayClient.ts';
import { readSettings, readTmuxPath, sameSettings } from './settingsReading.ts';

/** Path of tmux as the person set it; empty: to be searched for. */
export function tmuxPathSetting(): string {
  const configuration = vscode.workspace.getConfiguration('bowline');
  return readTmuxPath((name) => configuration.get<unknown>(name)) ?? '';
}

/** Keeps the gateway's settings those of the editor: at each connection and at each change. */
export class SettingsSync extends DisposableObject {
  private complained = '';

  constructor(
    private readonly client: GatewayClient,
    private readonly log: Log,
  ) {
    super();
    this._register(
      client.onDidConnect(() => {
        this.send();
      }),
    );
    this._register(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('bowline') && client.connection.kind === 'connected') this.send();
      }),
    );
  }

  private send(): void {
    const configuration = vscode.workspace.getConfiguration('bowline');
    const { settings, complaints } = readSettings((name) => configuration.get<unknown>(name));
    const complaint = complaints.join(' ');
    if (complaint !== this.complained && complaint !== '') void vscode.window.showWarningMessage(complaint);
    this.complained = complaint;
    if (sameSettings(settings, this.client.state.settings)) return;
    this.client.request({ kind: 'configure', settings }).catch((error: unknown) => {
      this.log.warn('the gateway did not take the settings', { reason: messageOf(error) });
    });
  }
}
