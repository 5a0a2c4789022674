import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { readPromptText } from '../../core/claude/promptText.ts';
import { takesPromptsAsleep } from '../../core/fleet/planPrompts.ts';
import { promptViews } from '../../core/fleet/promptView.ts';
import { runningLaunch } from '../../core/fleet/agent.ts';
import { promptProgress, type PromptProgress } from '../promptProgress.ts';
import type { CommandContext } from './commandContext.ts';
import { chooseAgent, follow } from './interaction.ts';
import { openPromptDocument, promptAgentOf } from './promptDocuments.ts';

/** `draft` opens in an editor, for the person to go on and send it. */
const argumentSchema = z.object({ text: z.exactOptional(z.string()), draft: z.exactOptional(z.string()) });

/** Asks for a prompt and brings it to an agent; resolves when its receipt is told. `{agent, text}` asks for nothing. `{agent, draft}` opens an editor. */
export async function sendPrompt(context: CommandContext, argument: unknown): Promise<void> {
  const fits = ({ name }: { readonly name: string }): boolean => {
    const agent = context.presenter.state.agents[name];
    if (agent === undefined) return false;
    return runningLaunch(agent) !== undefined || agent.life.kind === 'launching' || takesPromptsAsleep(agent);
  };
  const row = await chooseAgent(context, argument, {
    title: 'Send a prompt to which agent?',
    fits,
    none: 'No agent runs or sleeps, so none can take a prompt. Resume one first.',
  });
  if (row === undefined) return;
  const given = argumentSchema.safeParse(argument);
  const { text: whole, draft } = given.success ? given.data : {};
  if (draft !== undefined) {
    await openPromptDocument(row.name, draft);
    return;
  }
  const text = whole ?? (await askForText(row.name));
  if (text !== undefined) await deliver(context, row.name, text);
}

/** Sends what stands in a document that {@link sendPrompt} opened, and closes it when it was received. */
export async function sendPromptDocument(context: CommandContext, argument: unknown): Promise<void> {
  const uri = argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri?.toString());
  const name = document === undefined ? undefined : promptAgentOf(document);
  if (document === undefined || name === undefined) {
    void vscode.window.showInformationMessage(
      'This editor holds no prompt. Use Send Prompt, then Write Several Lines, to open one.',
    );
    return;
  }
  const reading = readPromptText(document.getText());
  if (!reading.ok) {
    void vscode.window.showWarningMessage(reading.sentence);
    return;
  }
  const outcome = await deliver(context, name, reading.text);
  if (outcome !== 'received' || document.isClosed) return;
  await vscode.window.showTextDocument(document);
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
}

/** One line, or what was written of it goes on in an editor: then nothing is returned. */
function askForText(name: string): Promise<string | undefined> {
  const input = vscode.window.createInputBox();
  const several = { iconPath: new vscode.ThemeIcon('edit'), tooltip: 'Write Several Lines in an Editor' };
  input.title = `Prompt for ${name}`;
  input.placeholder = 'What the agent shall do. The pencil opens an editor for several lines.';
  input.buttons = [several];
  input.ignoreFocusOut = true;
  return new Promise((resolve) => {
    let text: string | undefined;
    input.onDidChangeValue((value) => {
      const reading = readPromptText(value);
      input.validationMessage = reading.ok || value === '' ? undefined : reading.sentence;
    });
    input.onDidTriggerButton(() => {
      void openPromptDocument(name, input.value);
      input.hide();
    });
    input.onDidAccept(() => {
      const reading = readPromptText(input.value);
      input.validationMessage = reading.ok ? undefined : reading.sentence;
      if (!reading.ok) return;
      ({ text } = reading);
      input.hide();
    });
    input.onDidHide(() => {
      input.dispose();
      resolve(text);
    });
    input.show();
  });
}

/** Shows how far the prompt is until it is settled; cancelling calls it off as long as nothing was typed. */
async function deliver(context: CommandContext, name: string, text: string): Promise<PromptProgress['kind']> {
  const { presenter } = context;
  const id = randomUUID();
  const progress = (): PromptProgress => {
    const view = promptViews(presenter.state, name, Date.now()).find((one) => one.id === id);
    return promptProgress(name, view);
  };
  const end = await follow(context, {
    title: `Bowline: prompt for ${name}`,
    request: { kind: 'prompt', name, id, text },
    cancel: { kind: 'cancel prompt', name, id },
    progress,
  });
  const outcome = progress();
  if (outcome.kind === 'received') vscode.window.setStatusBarMessage(`$(check) ${name} received the prompt`, 8_000);
  if ((outcome.kind === 'unknown' || outcome.kind === 'failed') && end !== 'cancelled') {
    const attach = 'Attach';
    void vscode.window.showWarningMessage(outcome.sentence, attach).then((chosen) => {
      if (chosen === attach) void vscode.commands.executeCommand('bowline.attach', { agent: name });
    });
  }
  return outcome.kind;
}
