import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { readAgentName } from '../../core/fleet/names.ts';
import { exists } from '../../node/files.ts';
import { workspaceFolders } from '../agentsTree.ts';
import type { CommandContext } from './commandContext.ts';
import { attachWhenRunning } from './attach.ts';
import { awaitLaunch, connect, isAllowedToLaunch } from './interaction.ts';

/** A caller may give what else is asked for. */
const argumentSchema = z.object({ name: z.string(), directory: z.string() });

/** Creates an agent, opens its terminal, and waits until it is bound or needs a person. */
export async function newAgent(context: CommandContext, argument: unknown): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  await connect(context);
  const given = argumentSchema.safeParse(argument);
  const chosen = given.success ? given.data : await ask(context);
  if (chosen === undefined) return;
  const { name, directory } = chosen;
  if (!given.success && !(await isThere(directory))) return;
  context.attention.watch(name);
  await context.client.request({ kind: 'create', name, directory });
  void attachWhenRunning(context, chosen);
  await awaitLaunch(context, name, 0);
}

async function ask(context: CommandContext): Promise<{ name: string; directory: string } | undefined> {
  const name = await askName(context, { title: 'New Agent (1/2)' });
  if (name === undefined) return undefined;
  const directory = await askDirectory();
  return directory === undefined ? undefined : { name, directory };
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

async function askDirectory(): Promise<string | undefined> {
  const folders = workspaceFolders().map((directory) => ({
    label: `$(folder) ${vscode.workspace.getWorkspaceFolder(vscode.Uri.file(directory))?.name ?? directory}`,
    description: directory,
    directory,
  }));
  if (folders.length === 0) return browseDirectory();
  const picked = await pickDirectory(folders);
  return picked === browse ? browseDirectory() : picked?.directory;
}

interface DirectoryItem extends vscode.QuickPickItem {
  readonly directory?: string;
}

const browse: DirectoryItem = { label: '$(folder-opened) Browse...', alwaysShow: true };

/** The folders of the workspace, a path that is typed, or {@link browse}. */
function pickDirectory(folders: readonly DirectoryItem[]): Promise<DirectoryItem | undefined> {
  const pick = vscode.window.createQuickPick<DirectoryItem>();
  pick.title = 'New Agent (2/2)';
  pick.placeholder = 'Directory in which it works: choose one, or type its path';
  pick.ignoreFocusOut = true;
  pick.items = [...folders, browse];
  return new Promise((resolve) => {
    let isAccepted = false;
    let offered: string | undefined;
    const takeActive = (): void => {
      const [item] = pick.activeItems;
      if (!isAccepted || item === undefined) return;
      resolve(item);
      pick.hide();
    };
    pick.onDidChangeValue((value) => {
      isAccepted = false;
      const typed = typedDirectory(value.trim());
      // New items leave nothing active for a moment, in which an Enter would be lost.
      if (typed === offered) return;
      offered = typed;
      const item = { label: `$(arrow-right) Use ${typed ?? ''}`, alwaysShow: true };
      pick.items = typed === undefined ? [...folders, browse] : [{ ...item, directory: typed }, ...folders, browse];
    });
    pick.onDidAccept(() => {
      isAccepted = true;
      takeActive();
    });
    pick.onDidChangeActive(takeActive);
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

/** An absolute path as it was typed; `~` is the home directory. */
function typedDirectory(text: string): string | undefined {
  if (text === '~' || text.startsWith('~/')) return join(homedir(), text.slice(1));
  return isAbsolute(text) ? text : undefined;
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
