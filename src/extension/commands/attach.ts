import * as vscode from 'vscode';
import { runningLaunch } from '../../core/fleet/agent.ts';
import type { TerminalAgent } from '../terminals.ts';
import { launchOutcome } from '../launchOutcome.ts';
import type { CommandContext } from './commandContext.ts';
import { chooseAgent, isAllowedToLaunch, showError, withProgress } from './interaction.ts';

/** Opens or focuses the terminal of an agent; waits for one that is being started. */
export async function attach(context: CommandContext, argument: unknown): Promise<void> {
  const row = await chooseAgent(context, argument, { title: 'Attach to which agent?' });
  if (row === undefined) return;
  const { name } = row;
  if (isRunning(context, name)) {
    await context.terminals.attach(row);
    return;
  }
  const launchesBefore = row.life === 'sleeping' ? (context.presenter.state.agents[name]?.launchCount ?? 0) : 0;
  if (row.life === 'sleeping') {
    if (!(await isAllowedToLaunch())) return;
    context.attention.watch(name);
    await context.client.request({ kind: 'start', name });
  }
  if (row.life === 'launching' || row.life === 'sleeping') {
    await withProgress(`Bowline: waiting for ${name}`, (signal) => {
      return untilRunning(context, name, { launchesBefore, signal });
    });
    if (isRunning(context, name)) await context.terminals.attach(row);
    return;
  }
  const start = 'Resume';
  const state = row.detail === '' ? row.life : `${row.life} (${row.detail})`;
  const chosen = await vscode.window.showInformationMessage(`${name} does not run: it is ${state}.`, start);
  if (chosen === start) await vscode.commands.executeCommand('bowline.start', { agent: name });
}

/** Attaches as soon as the process of a new agent runs: it may begin with a dialog for the person. Tells its own errors. */
export async function attachWhenRunning(context: CommandContext, agent: TerminalAgent): Promise<void> {
  try {
    await untilRunning(context, agent.name, { launchesBefore: 0 });
    if (isRunning(context, agent.name)) await context.terminals.attach(agent, 'keep');
  } catch (error) {
    showError(context, 'bowline.attach', error);
  }
}

function isRunning({ presenter }: CommandContext, name: string): boolean {
  const agent = presenter.state.agents[name];
  return agent !== undefined && runningLaunch(agent) !== undefined;
}

/** Resolves when the process of a launch after the first `launchesBefore` ones runs, or when it is clear that it will not. */
function untilRunning(
  context: CommandContext,
  name: string,
  { launchesBefore, signal }: { readonly launchesBefore: number; readonly signal?: AbortSignal },
): Promise<void> {
  const { presenter } = context;
  const count = (): number | undefined => presenter.state.agents[name]?.launchCount;
  const isDecided = (): boolean => {
    const row = presenter.view.agents.find((agent) => agent.name === name);
    return isRunning(context, name) || launchOutcome(row, count(), launchesBefore) !== 'open';
  };
  if (isDecided()) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = (): void => {
      listener.dispose();
      resolve();
    };
    const listener = presenter.onDidChange(() => {
      if (isDecided()) settle();
    });
    signal?.addEventListener('abort', settle, { once: true });
  });
}
