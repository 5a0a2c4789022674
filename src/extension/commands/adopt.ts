import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { BowlineError } from '../../base/errors.ts';
import { resumeByHand } from '../../core/fleet/adoption.ts';
import { foreignListSchema, type ForeignRow } from '../../protocol/adoption.ts';
import { askGateway } from '../askGateway.ts';
import { foreignItems } from '../foreignItems.ts';
import { attachWhenRunning } from './attach.ts';
import type { CommandContext } from './commandContext.ts';
import { awaitLaunch, connect, isAllowedToLaunch, untilSettled, withProgress } from './interaction.ts';
import { askName } from './newAgent.ts';

/** A caller may give what else is asked for; what is to be ended is always confirmed. */
const argumentSchema = z.object({ pid: z.int(), name: z.string() });

/** Lists the claudes that Bowline did not start, and makes one of them an agent: it is ended and its conversation resumed. */
export async function adoptSession(context: CommandContext, argument: unknown): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  await connect(context);
  const given = argumentSchema.safeParse(argument);
  const rows = await withProgress('Bowline: looking for Claude sessions', async (signal) => {
    const { processes } = await askGateway(context.paths, '/foreign', foreignListSchema);
    signal.throwIfAborted();
    return processes;
  });
  const row = given.success ? rows.find(({ pid }) => pid === given.data.pid) : await choose(rows);
  if (row === undefined) {
    if (given.success) throw refused(given.data.pid, 'It is no Claude session that Bowline did not start.');
    return;
  }
  const { pid, startTime, sessionId, directory } = row;
  if (row.refused !== undefined) throw refused(pid, row.refused);
  if (startTime === undefined || directory === undefined) throw refused(pid, 'What it is cannot be proven.');
  const name = given.success
    ? given.data.name
    : await askName(context, { title: `Name of the agent for process ${pid}`, value: row.name });
  if (name === undefined || !(await isConfirmed(row, name))) return;
  context.attention.watch(name);
  const end = await withProgress(`Bowline: adopting ${name}`, async (signal, say) => {
    const isEnding = (): boolean => context.presenter.state.agents[name]?.adoption !== undefined;
    await context.client.request({ kind: 'adopt', name, pid, startTime, sessionId });
    say(`process ${pid} was asked to end`);
    await untilSettled(context, signal, () => !isEnding());
    if (!signal.aborted || !isEnding()) return 'settled';
    await context.client.request({ kind: 'stop', name });
    return 'called off';
  });
  if (end === 'called off') {
    void vscode.window.showInformationMessage(
      `${name} is not started. It has the conversation of process ${pid}: when that has ended, Resume goes on with it.`,
    );
    return;
  }
  // Where the process did not end, the gateway's notice tells so.
  if ((context.presenter.state.agents[name]?.launchCount ?? 0) === 0) return;
  void attachWhenRunning(context, { name, directory });
  await awaitLaunch(context, name, 0);
}

async function choose(rows: readonly ForeignRow[]): Promise<ForeignRow | undefined> {
  if (rows.length === 0) {
    void vscode.window.showInformationMessage('No Claude session runs on this machine besides the agents.');
    return undefined;
  }
  const items = foreignItems(rows, (at) => new Date(at).toLocaleString());
  const title = 'Which Claude session is to become an agent?';
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true }))?.row;
}

async function isConfirmed({ pid, directory = '', sessionId }: ForeignRow, name: string): Promise<boolean> {
  const adopt = 'End and Adopt';
  const detail =
    `It is asked to end (SIGTERM) if it is still idle, and ${name} goes on with its conversation in ${directory}. ` +
    'What stands unsent in its input line is lost. The options that it was started with, such as its model and ' +
    `permission mode, are not taken over: Configure Agent sets them.\n\nBy hand it goes on so: ${resumeByHand(directory, sessionId)}`;
  const question = `End process ${pid} and adopt its conversation as the agent ${name}?`;
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, adopt)) === adopt;
}

function refused(pid: number, why: string): BowlineError {
  return new BowlineError('launch-refused', `Process ${pid} cannot be adopted. ${why}`);
}
