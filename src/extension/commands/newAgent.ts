import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { readAgentName } from '../../core/fleet/names.ts';
import { exists } from '../../node/files.ts';
import { launchFields } from '../configurationFields.ts';
import { type LaunchChoices, launchPreview, rememberChoices, rememberedChoices } from '../newAgentChoices.ts';
import { attachWhenRunning } from './attach.ts';
import { chooseDirectory } from './chooseDirectory.ts';
import type { CommandContext } from './commandContext.ts';
import { awaitLaunch, connect, isAllowedToLaunch } from './interaction.ts';

/** A caller may give what else is asked for. */
const argumentSchema = z.object({ name: z.string(), directory: z.string() });

interface NewAgent extends LaunchChoices {
  readonly name: string;
  readonly directory: string;
}

/** Creates an agent, opens its terminal, and waits until it is bound or needs a person. */
export async function newAgent(context: CommandContext, argument: unknown): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  await connect(context);
  const given = argumentSchema.safeParse(argument);
  const chosen: NewAgent | undefined = given.success ? given.data : await ask(context);
  if (chosen === undefined) return;
  const { name, directory, ...launch } = chosen;
  if (!given.success && !(await isThere(directory))) return;
  context.attention.watch(name);
  await context.client.request({ kind: 'create', ...chosen });
  if (!given.success) await rememberChoices(context.memory, directory, launch);
  void attachWhenRunning(context, chosen);
  await awaitLaunch(context, name, 0);
}

async function ask(context: CommandContext): Promise<NewAgent | undefined> {
  const name = await askName(context, { title: 'New Agent (1/2)' });
  if (name === undefined) return undefined;
  const { directories, ...remembered } = rememberedChoices(context.memory);
  let launch: LaunchChoices = remembered;
  for (;;) {
    const { claudePath } = context.presenter.state.settings;
    const preview = launchPreview(name, launch, { paths: context.paths, claudePath });
    const choice = await chooseDirectory({ remembered: directories, launch, preview });
    switch (choice?.kind) {
      case undefined:
        return undefined;
      case 'directory':
        return { name, directory: choice.directory, ...launch };
      case 'browse': {
        const directory = await browseDirectory();
        if (directory !== undefined) return { name, directory, ...launch };
        break;
      }
      case 'options':
        launch = await askLaunch(launch);
        break;
      case 'copy the command':
        await vscode.env.clipboard.writeText(preview);
        vscode.window.setStatusBarMessage('$(copy) The command is on the clipboard', 8_000);
        break;
    }
  }
}

/** What is not answered stays as it was. */
async function askLaunch(before: LaunchChoices): Promise<LaunchChoices> {
  let launch = before;
  for (const { field, hint, read } of launchFields) {
    const text = await vscode.window.showInputBox({
      title: 'New Agent: how it is started',
      prompt: hint,
      value: launch[field] ?? '',
      ignoreFocusOut: true,
      validateInput: (typed) => {
        const reading = read(typed);
        return reading.ok ? undefined : reading.sentence;
      },
    });
    if (text === undefined) return launch;
    const reading = read(text);
    if (!reading.ok) continue;
    const { [field]: _former, ...others } = launch;
    launch = reading.word === undefined ? others : { ...others, [field]: reading.word };
  }
  return launch;
}

/** Has a person give the name of a new agent; `value`: a proposal. */
export async function askName(
  { presenter }: CommandContext,
  question: { readonly title: string; readonly value?: string },
): Promise<string | undefined> {
  return vscode.window.showInputBox({
    ...question,
    prompt: 'Name of the agent',
    placeHolder: 'ada',
    ignoreFocusOut: true,
    validateInput: (text) => {
      const reading = readAgentName(text);
      if (!reading.ok) return reading.sentence;
      return presenter.state.agents[text] === undefined ? undefined : `There is an agent "${text}" already.`;
    },
  });
}

/** Offers to create a directory that was typed and is not there. */
async function isThere(directory: string): Promise<boolean> {
  if (await exists(directory)) return true;
  const create = 'Create Directory';
  const question = `There is no directory ${directory}.`;
  if ((await vscode.window.showWarningMessage(question, { modal: true }, create)) !== create) return false;
  await vscode.workspace.fs.createDirectory(vscode.Uri.file(directory));
  return true;
}

async function browseDirectory(): Promise<string | undefined> {
  const uris = await vscode.window.showOpenDialog({
    title: 'Directory in which the agent works',
    openLabel: 'Use This Directory',
    canSelectFiles: false,
    canSelectFolders: true,
  });
  return uris?.[0]?.fsPath;
}
