import * as vscode from 'vscode';
import { nothingLost, openRestoration } from '../../core/fleet/restore.ts';
import { type RestoreRow, restorePlanSchema } from '../../protocol/restorePlan.ts';
import { askGateway } from '../askGateway.ts';
import { calledOffSentence, isPossible, restoreMessage, restoreQuestion, restoreResult } from '../restoreText.ts';
import type { CommandContext } from './commandContext.ts';
import { connect, isAllowedToLaunch, untilSettled, withProgress } from './interaction.ts';

/**
 * Brings back all agents that ended with the tmux server or the machine: the plan first, then a few at a time. One that is
 * under way is followed.
 */
export async function restoreAll(context: CommandContext): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  await connect(context);
  if (openRestoration(context.presenter.state) !== undefined) return restore(context, []);
  const { agents } = await withProgress('Bowline: looking what can be restored', () =>
    askGateway(context.paths, '/restore-plan', restorePlanSchema),
  );
  if (agents.length === 0) {
    void vscode.window.showInformationMessage(nothingLost);
    return;
  }
  const { possible, message, detail } = restoreQuestion(agents);
  const actions = possible.length === 0 ? [] : ['Restore'];
  const chosen = await vscode.window.showWarningMessage(message, { modal: true, detail }, ...actions);
  if (chosen !== undefined) await restore(context, agents);
}

/** Asks for it, shows how far it is, and says what came out. Cancelling stops those that are not up yet. */
async function restore(context: CommandContext, rows: readonly RestoreRow[]): Promise<void> {
  const { client, presenter } = context;
  const before = presenter.state.restoration;
  const isNew = before?.ended !== undefined;
  const now = (): typeof before => {
    const { restoration } = presenter.state;
    return isNew && restoration?.id === before.id ? undefined : restoration;
  };
  const names = (): readonly string[] => now()?.agents ?? rows.filter(isPossible).map(({ name }) => name);
  const followed = context.attention.follow(names());
  try {
    const outcome = await withProgress('Bowline: restoring agents', async (signal, say) => {
      await client.request({ kind: 'restore all' });
      await untilSettled(context, signal, () => {
        say(restoreMessage(names(), presenter.view));
        return now()?.ended !== undefined;
      });
      if (!signal.aborted || now()?.ended !== undefined) return 'settled';
      await client.request({ kind: 'cancel restore' });
      return 'cancelled';
    });
    tell(context, outcome, names(), rows);
  } finally {
    followed.dispose();
  }
}

function tell(
  { presenter }: CommandContext,
  outcome: 'settled' | 'cancelled',
  names: readonly string[],
  rows: readonly RestoreRow[],
): void {
  const isCalledOff = outcome === 'cancelled' || presenter.state.restoration?.ended?.outcome === 'called off';
  if (isCalledOff) {
    void vscode.window.showInformationMessage(calledOffSentence(names, presenter.view));
    return;
  }
  const blocked = rows.filter((row) => !isPossible(row));
  const { severity, sentence } = restoreResult(names, blocked, presenter.view);
  if (severity === 'info') void vscode.window.showInformationMessage(sentence);
  else void vscode.window.showWarningMessage(sentence);
}
