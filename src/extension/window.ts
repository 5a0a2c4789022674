import type * as vscode from 'vscode';
import { yieldToOthers } from '../base/async.ts';
import type { RunningWindow } from './fleetWindow.ts';

/** What takes long to evaluate, the used before its users, so that no piece holds up the other extensions for long. */
const parts = [
  () => import('../protocol/fleetState.ts'),
  () => import('../protocol/stream.ts'),
  () => import('./gatewayClient.ts'),
];

/** Loads and opens all that is behind the commands. */
export async function openWindow(context: vscode.ExtensionContext): Promise<RunningWindow> {
  for (const load of parts) {
    await yieldToOthers();
    await load();
  }
  await yieldToOthers();
  const { openFleetWindow } = await import('./fleetWindow.ts');
  return openFleetWindow(context);
}
