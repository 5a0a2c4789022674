import * as vscode from 'vscode';
import type { AgentRow } from '../../src/core/fleet/select.ts';
import type { BowlineWindow } from '../../src/extension/fleetWindow.ts';
import { waitFor } from '../harness/waitFor.ts';

/** The extension under test, activated, with what its window shows. */
export async function bowlineWindow(): Promise<BowlineWindow> {
  const extension = vscode.extensions.getExtension<BowlineWindow>('bowline.bowline');
  if (extension === undefined) throw new Error('the extension is not installed');
  return extension.activate();
}

/** Sets one of Bowline's settings for the person. */
export async function setting(name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration('bowline').update(name, value, vscode.ConfigurationTarget.Global);
}

/** Waits until the row of an agent fits. */
export function agentThat(
  window: BowlineWindow,
  name: string,
  description: string,
  fits: (row: AgentRow) => boolean,
): Promise<AgentRow> {
  return waitFor(
    `${name} to be ${description}`,
    () => window.view.agents.find((row) => row.name === name && fits(row)),
    { timeoutMs: 20_000 },
  );
}

/** What the Agents view shows: label, description, icon and context of each agent. */
export async function treeRows(window: BowlineWindow): Promise<unknown[]> {
  const nodes = (await window.agents.getChildren()) ?? [];
  return Promise.all(
    nodes.map(async (node) => {
      const item = await window.agents.getTreeItem(node);
      const icon = item.iconPath instanceof vscode.ThemeIcon ? item.iconPath.id : undefined;
      return [item.label, item.description, icon, item.contextValue];
    }),
  );
}
