import * as vscode from 'vscode';
import { readTarget } from '../agentNodes.ts';
import type { CommandContext } from './commandContext.ts';
import { connect } from './interaction.ts';

/** Shows what was done to an agent or to the whole fleet, also while the gateway is away and of agents that are removed. */
export async function showAudit(context: CommandContext, argument: unknown): Promise<void> {
  const { agent } = readTarget(argument);
  if (agent !== undefined) {
    await context.audit.show(agent);
    return;
  }
  if (context.presenter.state.audit.length === 0) await connect(context);
  const { state } = context.presenter;
  const removed = new Set(
    state.audit.map((record) => record.agent).filter((name) => !Object.hasOwn(state.agents, name)),
  );
  const items = [
    { label: 'The whole fleet' },
    ...Object.values(state.agents).map(({ name, configuration }) => ({
      label: name,
      detail: configuration.directory,
      agent: name,
    })),
    ...[...removed].map((name) => ({ label: name, description: 'removed', agent: name })),
  ] satisfies (vscode.QuickPickItem & { readonly agent?: string })[];
  const picked = await vscode.window.showQuickPick(items, { title: 'Show the audit of which agent?' });
  if (picked !== undefined) await context.audit.show('agent' in picked ? picked.agent : undefined);
}
