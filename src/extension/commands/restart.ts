import * as vscode from 'vscode';
import { BowlineError } from '../../base/errors.ts';
import type { LaunchMode } from '../../core/fleet/state.ts';
import type { Command } from '../../protocol/commands.ts';
import { bypassQuestion } from './bypassQuestion.ts';
import type { CommandContext } from './commandContext.ts';
import { awaitLaunch, chooseAgent, isAllowedToLaunch } from './interaction.ts';

type RestartRequest = Extract<Command, { kind: 'restart' }>;

/** Ends the process and resumes the exact conversation. */
export async function restart(context: CommandContext, argument: unknown): Promise<void> {
  await guarded(context, argument, 'resume', 'Restart which agent?');
}

/** Starts the agent without its conversation. */
export async function forceFreshRestart(context: CommandContext, argument: unknown): Promise<void> {
  await guarded(context, argument, 'fresh', 'Restart which agent without its conversation?');
}

/** Asks once, resume or fresh, with what each would lose, and restarts whatever the guard says. */
export async function restartBypassingGuard(context: CommandContext, argument: unknown): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  const row = await chooseAgent(context, argument, { title: 'Restart which agent, bypassing the guard?' });
  const agent = row === undefined ? undefined : context.presenter.state.agents[row.name];
  if (row === undefined || agent === undefined) return;
  const question = bypassQuestion(agent, row, Date.now());
  const choices = { Resume: 'resume', 'Start Fresh': 'fresh' } as const;
  const chosen = await vscode.window.showWarningMessage(
    question.message,
    { modal: true, detail: question.detail },
    'Resume',
    'Start Fresh',
  );
  if (chosen === undefined) return;
  const mode = choices[chosen];
  const reason = `Asked for in the editor. The guard said: ${question.verdicts[mode].reason}.`;
  await send(context, { kind: 'restart', name: row.name, mode, guard: 'bypass', reason });
}

async function guarded(context: CommandContext, argument: unknown, mode: LaunchMode, title: string): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  const row = await chooseAgent(context, argument, { title });
  if (row === undefined) return;
  try {
    await send(context, { kind: 'restart', name: row.name, mode, guard: 'enforce' });
  } catch (error) {
    if (!(error instanceof BowlineError) || error.code !== 'guard-blocked') throw error;
    await offerBypass(context, row.name, error);
  }
}

async function offerBypass(context: CommandContext, name: string, refusal: BowlineError): Promise<void> {
  context.log.info('the guard refused a restart', { agent: name, reason: refusal.message });
  const bypass = 'Restart, Bypassing the Guard';
  const chosen = await vscode.window.showWarningMessage(refusal.message, bypass, 'Cancel');
  if (chosen === bypass) await restartBypassingGuard(context, name);
}

async function send(context: CommandContext, request: RestartRequest): Promise<void> {
  const launchesBefore = context.presenter.state.agents[request.name]?.launchCount ?? 0;
  context.attention.watch(request.name);
  await context.client.request(request);
  await awaitLaunch(context, request.name, launchesBefore);
}
