import * as vscode from 'vscode';
import { readSeveral, readTarget } from '../agentNodes.ts';
import { healProgress, healResult, namesToHeal } from '../healProgress.ts';
import type { CommandContext } from './commandContext.ts';
import { chooseAgent, connect, untilSettled, withProgress } from './interaction.ts';

/** Heals one agent, or those that the argument names, whatever the policy is. */
export async function healNow(context: CommandContext, argument: unknown): Promise<void> {
  const several = readSeveral(argument);
  if (several !== undefined) return heal(context, several);
  const { agent } = readTarget(argument);
  if (agent !== undefined) return heal(context, [agent]);
  await connect(context);
  const lost = namesToHeal(context.presenter.view);
  if (lost.length === 0) {
    sayNothingToHeal();
    return;
  }
  const row = await chooseAgent(context, argument, {
    title: 'Heal which agent?',
    fits: ({ name }) => lost.includes(name),
  });
  if (row !== undefined) await heal(context, [row.name]);
}

/** Heals all agents that lost their tools, at once and whatever the policy is. */
export async function healAll(context: CommandContext): Promise<void> {
  await connect(context);
  const lost = namesToHeal(context.presenter.view);
  if (lost.length === 0) sayNothingToHeal();
  else await heal(context, lost);
}

/** Asks for it, shows how far it is, and says what came out. Cancelling ends healing of those that are not healed yet. */
async function heal(context: CommandContext, names: readonly string[]): Promise<void> {
  const { client, presenter } = context;
  const now = (): ReturnType<typeof healProgress> => healProgress(names, presenter.view);
  const title = names.length === 1 ? `Bowline: healing ${names[0] ?? ''}` : `Bowline: healing ${names.length} agents`;
  const followed = context.attention.follow(names);
  const outcome = await withProgress(title, async (signal, say) => {
    await client.request({ kind: 'heal', names: [...names] });
    await untilSettled(context, signal, () => {
      const { open, message } = now();
      say(message);
      return open.length === 0;
    });
    const { open } = now();
    if (!signal.aborted || open.length === 0) return 'settled';
    await client.request({ kind: 'cancel heal', names: [...open] });
    return 'cancelled';
  }).finally(() => {
    followed.dispose();
  });
  if (outcome === 'cancelled') return;
  const { severity, sentence } = healResult(now());
  if (severity === 'info') {
    void vscode.window.showInformationMessage(sentence);
    return;
  }
  const causes = 'Show Causes';
  if ((await vscode.window.showWarningMessage(sentence, causes)) === causes) {
    await vscode.commands.executeCommand('bowline.showCauses');
  }
}

function sayNothingToHeal(): void {
  void vscode.window.showInformationMessage('Every running agent has its tools.');
}
