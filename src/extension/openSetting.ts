import * as vscode from 'vscode';

/** Shows a setting where it can be changed: in a remote window Bowline's settings are those of the remote machine. */
export async function openSetting(name: string): Promise<void> {
  if (vscode.env.remoteName === undefined) await vscode.commands.executeCommand('workbench.action.openSettings', name);
  else await vscode.commands.executeCommand('workbench.action.openRemoteSettings', { query: name });
}
