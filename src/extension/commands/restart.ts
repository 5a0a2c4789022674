import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { BowlineError } from '../../base/errors.ts';
import { promptViews } from '../../core/fleet/promptView.ts';
import type { LaunchMode } from '../../core/fleet/life.ts';
import type { Command } from '../../protocol/commands.ts';
import { readSeveral } from '../agentNodes.ts';
import { launchOutcome } from '../launchOutcome.ts';
import { saveProgress, type SaveProgress } from '../promptProgress.ts';
import { bypassQuestion, saveToolOf } from './bypassQuestion.ts';
import type { CommandContext } from './commandContext.ts';
import {
  awaitLaunch,
  chooseAgent,
  connect,
  follow,
  isAllowedToLaunch,
  untilSettled,
  withProgress,
} from './interaction.ts';

type RestartRequest = Extract<Command, { kind: 'restart' }>;

/** Ends the process and resumes the exact conversation. */
export async function restart(context: CommandContext, argument: unknown): Promise<void> {
  const several = readSeveral(argument);
  if (several !== undefined) return restartSeveral(context, several);
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

/** Each with its conversation, as far as its guard allows it; what a guard refused is told together. */
async function restartSeveral(context: CommandContext, names: readonly string[]): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  await connect(context);
  const { presenter, client, attention } = context;
  const refused: string[] = [];
  const asked: { readonly name: string; readonly launchesBefore: number }[] = [];
  await withProgress(`Bowline: restarting ${names.length} agents`, async (signal, say) => {
    const requests = names.map(async (name) => {
      const launchesBefore = presenter.state.agents[name]?.launchCount ?? 0;
      attention.watch(name);
      try {
        await client.request({ kind: 'restart', name, mode: 'resume', guard: 'enforce' });
        asked.push({ name, launchesBefore });
      } catch (error) {
        if (!(error instanceof BowlineError)) throw error;
        refused.push(`${name}: ${error.message}`);
      }
    });
    await Promise.all(requests);
    const isOpen = ({ name, launchesBefore }: (typeof asked)[number]): boolean => {
      const row = presenter.view.agents.find((agent) => agent.name === name);
      return launchOutcome(row, presenter.state.agents[name]?.launchCount, launchesBefore) === 'open';
    };
    await untilSettled(context, signal, () => {
      const open = asked.filter(isOpen);
      say(`${asked.length - open.length} of ${names.length} are up`);
      return open.length === 0;
    });
    if (signal.aborted) {
      await Promise.all(asked.filter(isOpen).map(({ name }) => client.request({ kind: 'stop', name })));
    }
  });
  if (refused.length > 0) {
    void vscode.window.showWarningMessage(`Not restarted: ${refused.length} of ${names.length}. ${refused.join(' ')}`);
  }
}

async function guarded(context: CommandContext, argument: unknown, mode: LaunchMode, title: string): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  const row = await chooseAgent(context, argument, { title });
  if (row === undefined) return;
  try {
    await send(context, { kind: 'restart', name: row.name, mode, guard: 'enforce' });
  } catch (error) {
    if (!(error instanceof BowlineError) || error.code !== 'guard-blocked') throw error;
    await offerWaysOn(context, row.name, mode, error);
  }
}

/** Only a restart without the conversation needs a save, and only an agent with tools can make one. */
async function offerWaysOn(
  context: CommandContext,
  name: string,
  mode: LaunchMode,
  refusal: BowlineError,
): Promise<void> {
  context.log.info('the guard refused a restart', { agent: name, reason: refusal.message });
  // Longer ones are cut in a notification.
  const save = 'Save, Then Restart';
  const bypass = 'Bypass...';
  const row = context.presenter.view.agents.find((agent) => agent.name === name);
  const offers = mode === 'fresh' && row !== undefined && saveToolOf(row) === 'reachable' ? [save, bypass] : [bypass];
  const launches = (): number | undefined => context.presenter.state.agents[name]?.launchCount;
  const refused = launches();
  const chosen = await vscode.window.showWarningMessage(refusal.message, ...offers);
  if (chosen !== undefined && launches() !== refused) {
    void vscode.window.showInformationMessage(
      `Nothing was done: ${name} was started anew or removed since it was asked.`,
    );
    return;
  }
  if (chosen === save) await saveThenRestart(context, name, mode);
  if (chosen === bypass) await restartBypassingGuard(context, name);
}

async function saveThenRestart(context: CommandContext, name: string, mode: LaunchMode): Promise<void> {
  const { presenter } = context;
  const id = randomUUID();
  const launchesBefore = presenter.state.agents[name]?.launchCount ?? 0;
  const progress = (): SaveProgress => {
    const view = promptViews(presenter.state, name, Date.now()).find((one) => one.id === id);
    return saveProgress(presenter.state.agents[name], id, view);
  };
  context.attention.watch(name);
  const end = await follow(context, {
    title: `Bowline: restart of ${name} after its save`,
    request: { kind: 'save and restart', name, id, mode },
    cancel: { kind: 'cancel save and restart', name, id },
    progress,
  });
  const outcome = progress();
  if (outcome.kind === 'restarted') await awaitLaunch(context, name, launchesBefore);
  if (outcome.kind !== 'not restarted' || end === 'cancelled') return;
  const attach = 'Attach';
  const bypass = 'Bypass...';
  const chosen = await vscode.window.showWarningMessage(outcome.sentence, attach, bypass);
  if (chosen === attach) await vscode.commands.executeCommand('bowline.attach', { agent: name });
  if (chosen === bypass) await restartBypassingGuard(context, name);
}

async function send(context: CommandContext, request: RestartRequest): Promise<void> {
  const launchesBefore = context.presenter.state.agents[request.name]?.launchCount ?? 0;
  context.attention.watch(request.name);
  const { notices: before } = context.presenter.state;
  await context.client.request(request);
  await awaitLaunch(context, request.name, launchesBefore);
  // That it was restarted without a save, or in spite of an error of the guard, the person shall know who asked for it.
  const told = context.presenter.state.notices.filter(
    (notice) => !before.includes(notice) && notice.agent === request.name && notice.code.startsWith('guard-'),
  );
  for (const { sentence } of told) void vscode.window.showWarningMessage(sentence);
}
