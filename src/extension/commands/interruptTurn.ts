import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { Interrupt } from '../../core/fleet/life.ts';
import { runningLaunch } from '../../core/fleet/agent.ts';
import type { CommandContext } from './commandContext.ts';
import { chooseAgent, untilSettled, withProgress } from './interaction.ts';

/** Presses Escape in the turn that an agent is in, and says so when that had no effect. */
export async function interruptTurn(context: CommandContext, argument: unknown): Promise<void> {
  const { presenter, client } = context;
  const fits = ({ name }: { readonly name: string }): boolean => presenter.state.agents[name]?.activity.kind === 'busy';
  const row = await chooseAgent(context, argument, {
    title: 'Interrupt the turn of which agent?',
    fits,
    none: 'No agent is in a turn that could be interrupted.',
  });
  if (row === undefined) return;
  const { name } = row;
  const id = randomUUID();
  const now = (): Interrupt | 'gone' => {
    const agent = presenter.state.agents[name];
    const interrupt = agent === undefined ? undefined : runningLaunch(agent)?.interrupt;
    return interrupt?.id === id ? interrupt : 'gone';
  };
  await withProgress(`Bowline: interrupting ${name}`, async (signal) => {
    await client.request({ kind: 'interrupt', name, id });
    await untilSettled(context, signal, () => {
      const interrupt = now();
      return interrupt === 'gone' || interrupt.ended !== undefined;
    });
  });
  const interrupt = now();
  if (interrupt === 'gone' || interrupt.ended === undefined) return;
  const { outcome, detail } = interrupt.ended;
  if (outcome === 'interrupted') {
    vscode.window.setStatusBarMessage(`$(debug-pause) The turn of ${name} was interrupted`, 8_000);
    return;
  }
  const attach = 'Attach';
  if ((await vscode.window.showWarningMessage(detail, attach)) === attach) {
    await vscode.commands.executeCommand('bowline.attach', { agent: name });
  }
}
