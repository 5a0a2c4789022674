import * as vscode from 'vscode';
import { BowlineError } from '../../base/errors.ts';
import type { AgentRow } from '../../core/fleet/select.ts';
import { currentLaunch } from '../../core/fleet/agent.ts';
import { readSeveral } from '../agentNodes.ts';
import type { CommandContext } from './commandContext.ts';
import { isStoppable, stillRunning } from '../stopProgress.ts';
import { awaitLaunch, chooseAgent, connect, isAllowedToLaunch, untilSettled, withProgress } from './interaction.ts';
import { resumeChosen } from './otherConversation.ts';

/** Starts an agent that does not run; its conversation goes on where it has one. */
export async function start(context: CommandContext, argument: unknown): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  const fits = (row: AgentRow): boolean => !hasProcess(context, row.name);
  const none = 'Every agent runs already.';
  const row = await chooseAgent(context, argument, { title: 'Resume which agent?', fits, none });
  if (row === undefined) return;
  const launchesBefore = context.presenter.state.agents[row.name]?.launchCount ?? 0;
  context.attention.watch(row.name);
  try {
    await context.client.request({ kind: 'start', name: row.name });
  } catch (error) {
    if (!(error instanceof BowlineError) || error.code !== 'conversation-ambiguous') throw error;
    await resumeChosen(context, row.name, `Several conversations can be that of ${row.name}: which one is it?`);
    return;
  }
  await awaitLaunch(context, row.name, launchesBefore);
}

/** Stops an agent; asks first when that cuts off a turn. One that sleeps does not wake any more. */
export async function stop(context: CommandContext, argument: unknown): Promise<void> {
  const fits = (row: AgentRow): boolean => hasProcess(context, row.name) || row.life === 'sleeping';
  const several = readSeveral(argument);
  if (several !== undefined) return stopSeveral(context, several);
  const none = 'No agent runs or sleeps, so there is none to stop.';
  const row = await chooseAgent(context, argument, { title: 'Stop which agent?', fits, none });
  if (row === undefined) return;
  if (row.activity === 'busy' || row.activity === 'waiting for permission') {
    const detail = `It is ${row.activity}: the turn in progress is cut off. Its conversation stays and can be resumed.`;
    if (!(await confirm(`Stop ${row.name}?`, detail, 'Stop'))) return;
  }
  await context.client.request({ kind: 'stop', name: row.name });
}

/** Stops every agent, and shows how far that is. */
export async function stopAll(context: CommandContext): Promise<void> {
  await connect(context);
  const names = Object.keys(context.presenter.state.agents);
  await stopThem(context, names, 'Stop All', () => context.client.request({ kind: 'stop all' }));
}

async function stopSeveral(context: CommandContext, chosen: readonly string[]): Promise<void> {
  const { client } = context;
  await connect(context);
  await stopThem(context, chosen, 'Stop Them', async (names) => {
    await Promise.all(names.map((name) => client.request({ kind: 'stop', name })));
  });
}

async function stopThem(
  context: CommandContext,
  chosen: readonly string[],
  action: string,
  send: (names: readonly string[]) => Promise<void>,
): Promise<void> {
  const { presenter } = context;
  const names = Object.values(presenter.state.agents)
    .filter((agent) => chosen.includes(agent.name) && isStoppable(agent))
    .map(({ name }) => name);
  if (names.length === 0) {
    void vscode.window.showInformationMessage('No agent runs or sleeps, so there is none to stop.');
    return;
  }
  const inTurn = presenter.view.agents.filter(({ name, activity }) => {
    return names.includes(name) && (activity === 'busy' || activity === 'waiting for permission');
  });
  const cutOff = inTurn.length === 0 ? '' : `The turns of ${inTurn.map(({ name }) => name).join(', ')} are cut off. `;
  const detail = `${cutOff}Their conversations stay and can be resumed.`;
  const count = names.length === 1 ? 'one agent' : `${names.length} agents`;
  if (!(await confirm(`Stop ${count}?`, detail, action))) return;
  const left = (): readonly string[] => stillRunning(presenter.state, names);
  await withProgress(`Bowline: stopping ${count}`, async (signal, say) => {
    await send(names);
    await untilSettled(context, signal, () => {
      say(`${names.length - left().length} of ${names.length} ended`);
      return left().length === 0;
    });
  });
  const text = left().length === 0 ? `Stopped ${count}.` : `Still being stopped: ${left().join(', ')}.`;
  void vscode.window.showInformationMessage(`${text} Resume brings each back with its conversation.`);
}

/** The machine slept, or the person believes so: every binding is proven again. */
export async function hostResumed({ client }: CommandContext): Promise<void> {
  await client.request({ kind: 'host resumed' });
}

/** Stops an agent and forgets it. */
export async function remove(context: CommandContext, argument: unknown): Promise<void> {
  const row = await chooseAgent(context, argument, { title: 'Remove which agent?' });
  if (row === undefined) return;
  const detail = hasProcess(context, row.name)
    ? 'It will be stopped, and Bowline forgets it with its saved context. The transcripts of its conversations stay.'
    : 'Bowline forgets it with its saved context. The transcripts of its conversations stay.';
  if (!(await confirm(`Remove ${row.name}?`, detail, 'Remove'))) return;
  await context.client.request({ kind: 'remove', name: row.name });
}

function hasProcess({ presenter }: CommandContext, name: string): boolean {
  const agent = presenter.state.agents[name];
  return agent !== undefined && currentLaunch(agent) !== undefined;
}

async function confirm(message: string, detail: string, action: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(message, { modal: true, detail }, action)) === action;
}
