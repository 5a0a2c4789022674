import * as vscode from 'vscode';
import { BowlineError } from '../../base/errors.ts';
import { currentLaunch } from '../../core/fleet/agent.ts';
import type { ConversationRow } from '../../protocol/conversations.ts';
import { conversationItems } from '../conversationItems.ts';
import { conversationsOf } from '../conversationList.ts';
import type { CommandContext } from './commandContext.ts';
import { awaitLaunch, chooseAgent, connect, isAllowedToLaunch, withProgress } from './interaction.ts';

/** Starts an agent that does not run with another conversation of its directory, or with one that it gave up. */
export async function resumeOtherConversation(context: CommandContext, argument: unknown): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  await connect(context);
  const { agents } = context.presenter.state;
  const row = await chooseAgent(context, argument, {
    title: 'Resume another conversation with which agent?',
    fits: ({ name }) => agents[name] !== undefined && currentLaunch(agents[name]) === undefined,
    none: 'Every agent runs. Stop the one that is to go on with another conversation first.',
  });
  if (row === undefined) return;
  await resumeChosen(context, row.name, `Which conversation is ${row.name} to go on with?`);
}

/** Has a person choose a conversation for an agent that does not run, and starts it with that. */
export async function resumeChosen(context: CommandContext, name: string, title: string): Promise<void> {
  const chosen = await chooseConversation(context, name, title);
  if (chosen === undefined) return;
  const launchesBefore = context.presenter.state.agents[name]?.launchCount ?? 0;
  context.attention.watch(name);
  await context.client.request({ kind: 'resume other', name, sessionId: chosen.sessionId });
  await awaitLaunch(context, name, launchesBefore);
}

/** Opens the file in which Claude keeps a conversation. */
export async function openTranscript(context: CommandContext, argument: unknown): Promise<void> {
  await connect(context);
  const row = await chooseAgent(context, argument, { title: 'Open the transcript of which agent?' });
  if (row === undefined) return;
  const chosen = await chooseConversation(context, row.name, `Which transcript of ${row.name}?`);
  if (chosen?.transcript === undefined) return;
  await vscode.window.showTextDocument(vscode.Uri.file(chosen.transcript.path), { preview: true });
}

/** Of those that have a transcript; where there is none that is said. */
async function chooseConversation(
  { paths, presenter }: CommandContext,
  name: string,
  title: string,
): Promise<ConversationRow | undefined> {
  const all = await withProgress(`Bowline: looking for conversations of ${name}`, (signal) => {
    return conversationsOf(paths, name, signal);
  });
  const items = conversationItems(all, (at) => new Date(at).toLocaleString());
  if (items.length === 0) {
    const { directory } = presenter.state.agents[name]?.configuration ?? {};
    throw new BowlineError(
      'bad-request',
      `Claude keeps no conversation of ${name} in ${directory ?? 'its directory'}. Use Force Fresh Restart to begin one.`,
    );
  }
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true }))?.row;
}
