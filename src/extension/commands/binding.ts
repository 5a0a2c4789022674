import * as vscode from 'vscode';
import { BowlineError } from '../../base/errors.ts';
import type { AgentRow, EndpointRow } from '../../core/fleet/select.ts';
import { readSeveral, readTarget } from '../agentNodes.ts';
import { verifyResult } from '../verifyResult.ts';
import type { CommandContext } from './commandContext.ts';
import { chooseAgent, connect, untilSettled, withProgress } from './interaction.ts';

/** A probe is answered or given up within this time, in milliseconds. */
const verifyLimit = 12_000;

/** Probes every endpoint of an agent now and says what came out. */
export async function verifyBinding(context: CommandContext, argument: unknown): Promise<void> {
  const several = readSeveral(argument);
  if (several !== undefined) return verifySeveral(context, several);
  const row = await chooseAgent(context, argument, {
    title: 'Verify the binding of which agent?',
    fits: ({ worst }) => worst !== 'off',
    none: 'No agent runs, so there is no binding to verify.',
  });
  if (row === undefined) return;
  const { name } = row;
  const shown = (): AgentRow | undefined => context.presenter.view.agents.find((agent) => agent.name === name);
  await withProgress(`Bowline: probing ${name}`, async (signal) => {
    await context.client.request({ kind: 'verify', name });
    const limited = AbortSignal.any([signal, AbortSignal.timeout(verifyLimit)]);
    await untilSettled(context, limited, () => {
      const open = shown()?.endpoints.some(({ state }) => state === 'suspect' || state === 'pending');
      return open !== true;
    });
  });
  const now = shown();
  if (now === undefined) return;
  const result = now.endpoints.map(describe).join(' ');
  if (now.endpoints.every(({ state }) => state === 'bound')) {
    vscode.window.setStatusBarMessage(`$(link) ${name}: ${result}`, 8_000);
  } else void vscode.window.showWarningMessage(`${name}: ${result === '' ? 'it has no MCP endpoints.' : result}`);
}

/** The same for all agents that run, at once. */
export async function verifyAll(context: CommandContext): Promise<void> {
  await connect(context);
  await verifySeveral(
    context,
    context.presenter.view.agents.map(({ name }) => name),
  );
}

async function verifySeveral(context: CommandContext, chosen: readonly string[]): Promise<void> {
  const { presenter, client } = context;
  await connect(context);
  const rows = (): readonly AgentRow[] => presenter.view.agents.filter(({ name }) => names.includes(name));
  const names: readonly string[] = presenter.view.agents
    .filter(({ name, worst }) => chosen.includes(name) && worst !== 'off')
    .map(({ name }) => name);
  if (names.length === 0) {
    void vscode.window.showInformationMessage('No agent runs, so there is no binding to verify.');
    return;
  }
  const isOpen = ({ endpoints }: AgentRow): boolean =>
    endpoints.some(({ state }) => state === 'suspect' || state === 'pending');
  await withProgress(`Bowline: probing ${names.length} agents`, async (signal, say) => {
    await Promise.all(names.map((name) => client.request({ kind: 'verify', name })));
    const limited = AbortSignal.any([signal, AbortSignal.timeout(verifyLimit)]);
    await untilSettled(context, limited, () => {
      const open = rows().filter(isOpen).length;
      say(`${names.length - open} of ${names.length} answered`);
      return open === 0;
    });
  });
  const { isGood, sentence } = verifyResult(rows());
  if (isGood) {
    vscode.window.setStatusBarMessage(`$(link) ${sentence}`, 8_000);
    return;
  }
  const causes = 'Show Causes';
  if ((await vscode.window.showWarningMessage(sentence, causes)) === causes) {
    await vscode.commands.executeCommand('bowline.showCauses');
  }
}

/** Types `/mcp reconnect` into the agent, for the endpoint that is meant. */
export async function reconnectMcp(context: CommandContext, argument: unknown): Promise<void> {
  const row = await chooseAgent(context, argument, {
    title: 'Reconnect the MCP servers of which agent?',
    fits: ({ worst }) => worst !== 'off',
    none: 'No agent runs with an MCP server of Bowline.',
  });
  if (row === undefined) return;
  const server = readTarget(argument).server ?? (await chooseServer(row));
  if (server === undefined) return;
  await context.client.request({ kind: 'reconnect', name: row.name, server });
  vscode.window.setStatusBarMessage(`$(plug) ${row.name}: reconnects ${server} as soon as it is idle`, 8_000);
}

async function chooseServer(row: AgentRow): Promise<string | undefined> {
  const [first, ...others] = row.endpoints;
  if (first === undefined) throw new BowlineError('bad-request', `${row.name} has no MCP server of Bowline.`);
  if (others.length === 0) return first.server;
  const items = row.endpoints.map(({ server, state, cause }) => ({ label: server, description: state, detail: cause }));
  return (await vscode.window.showQuickPick(items, { title: `Reconnect which MCP server of ${row.name}?` }))?.label;
}

function describe({ server, state, roundTripMs, cause, nextStep }: EndpointRow): string {
  const answer = state === 'bound' && roundTripMs !== undefined ? `, answered in ${Math.round(roundTripMs)} ms` : '';
  return [`${server} is ${state}${answer}.`, cause, nextStep].filter((part) => part !== '').join(' ');
}
