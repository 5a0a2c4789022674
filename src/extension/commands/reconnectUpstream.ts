import * as vscode from 'vscode';
import { BowlineError } from '../../base/errors.ts';
import type { AgentRow, EndpointRow } from '../../core/fleet/select.ts';
import { readTarget } from '../agentNodes.ts';
import { reconnectResult } from '../upstreamText.ts';
import type { CommandContext } from './commandContext.ts';
import { chooseAgent, untilSettled, withProgress } from './interaction.ts';

/** Has an agent's own MCP server behind the gateway connected anew, and says whether it answers. The agent is left alone. */
export async function reconnectUpstream(context: CommandContext, argument: unknown): Promise<void> {
  const { client, presenter } = context;
  const row = await chooseAgent(context, argument, {
    title: 'Reconnect an MCP server of which agent?',
    fits: (one) => upstreamsOf(one).length > 0,
  });
  if (row === undefined) return;
  const server = readTarget(argument).server ?? (await chooseUpstream(row));
  if (server === undefined) return;
  const { name } = row;
  const now = (): EndpointRow | undefined =>
    presenter.view.agents.find((agent) => agent.name === name)?.endpoints.find((one) => one.server === server);
  const outcome = await withProgress(`Bowline: reconnecting ${server} of ${name}`, async (signal) => {
    await client.request({ kind: 'reconnect upstream', name, server });
    await untilSettled(context, signal, () => now()?.upstream?.update !== 'verifying');
    if (!signal.aborted || now()?.upstream?.update !== 'verifying') return 'settled';
    await client.request({ kind: 'cancel reconnect upstream', name, server });
    return 'cancelled';
  });
  if (outcome === 'cancelled') return;
  const { severity, sentence } = reconnectResult(name, server, now());
  if (severity === 'info') vscode.window.setStatusBarMessage(`$(refresh) ${sentence}`, 8_000);
  else void vscode.window.showWarningMessage(sentence);
}

async function chooseUpstream(row: AgentRow): Promise<string | undefined> {
  const upstreams = upstreamsOf(row);
  const [first, ...others] = upstreams;
  if (first === undefined) {
    throw new BowlineError('bad-request', `${row.name} has no MCP server of its own behind the gateway.`);
  }
  if (others.length === 0) return first.server;
  const items = upstreams.map(({ server, state, cause }) => ({ label: server, description: state, detail: cause }));
  return (await vscode.window.showQuickPick(items, { title: `Reconnect which MCP server of ${row.name}?` }))?.label;
}

function upstreamsOf({ endpoints }: AgentRow): readonly EndpointRow[] {
  return endpoints.filter(({ state, upstream }) => upstream !== undefined && state !== 'off');
}
