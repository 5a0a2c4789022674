import * as vscode from 'vscode';
import { BowlineError } from '../../base/errors.ts';
import type { CommandContext } from './commandContext.ts';
import { connect, untilSettled, withProgress } from './interaction.ts';

/** Compares panes, Claude's live-session files and transcripts with the record, and tells what differs. */
export async function reconcileFleet(context: CommandContext): Promise<void> {
  await connect(context);
  const { client, presenter } = context;
  const before = presenter.state.reconciliation?.askedAt;
  const outcome = (): { readonly differences: number; readonly problem?: string } | undefined => {
    const { reconciliation } = presenter.state;
    return reconciliation?.askedAt === before ? undefined : reconciliation?.done;
  };
  await withProgress('Bowline: comparing the fleet with its record', async (signal, say) => {
    await client.request({ kind: 'reconcile' });
    if (presenter.state.hands === undefined) say('No window executes actions; this waits for one.');
    await untilSettled(context, signal, () => outcome() !== undefined);
  });
  const result = outcome();
  if (result === undefined) return; // the person does not wait for it
  if (result.problem !== undefined) {
    const sentence = `The fleet cannot be compared with its record (${result.problem}). Nothing was changed; try again.`;
    throw new BowlineError('tmux-failed', sentence);
  }
  if (result.differences === 0) {
    void vscode.window.showInformationMessage('The fleet is as its record says.');
    return;
  }
  const show = 'Show Audit';
  const count = result.differences === 1 ? '1 difference' : `${result.differences} differences`;
  const chosen = vscode.window.showWarningMessage(`The fleet differs from its record: ${count}.`, show);
  void chosen.then((choice) => {
    if (choice === show) void context.audit.show(undefined);
  });
}
