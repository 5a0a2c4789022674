import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { exists } from '../../node/files.ts';
import { workspaceFolders } from '../agentsTree.ts';
import { type LaunchChoices, launchWords } from '../newAgentChoices.ts';

/** What a person chose in the second question of New Agent. */
export type DirectoryChoice =
  | { readonly kind: 'directory'; readonly directory: string }
  | { readonly kind: 'browse' | 'options' | 'copy the command' };

interface ChoiceItem extends vscode.QuickPickItem {
  readonly choice?: DirectoryChoice;
}

export interface DirectoryQuestion {
  /** Directories of the last agents, absolute. */
  readonly remembered: readonly string[];
  readonly launch: LaunchChoices;
  /** The command line that is going to be run. */
  readonly preview: string;
}

/** The folders of the workspace, those of the last agents, a path that is typed, or something else to do first. */
export async function chooseDirectory(question: DirectoryQuestion): Promise<DirectoryChoice | undefined> {
  const items = await itemsFor(question);
  const pick = vscode.window.createQuickPick<ChoiceItem>();
  pick.title = 'New Agent (2/2)';
  pick.placeholder = 'Directory in which it works: choose one, or type its path';
  pick.ignoreFocusOut = true;
  pick.items = items;
  return new Promise((resolve) => {
    let isAccepted = false;
    let offered: string | undefined;
    const takeActive = (): void => {
      const [item] = pick.activeItems;
      if (!isAccepted || item === undefined) return;
      resolve(item.choice);
      pick.hide();
    };
    const offer = (typed: string, description: string): void => {
      const choice = { kind: 'directory', directory: typed } as const;
      pick.items = [{ label: `$(arrow-right) Use ${typed}`, description, alwaysShow: true, choice }, ...items];
    };
    pick.onDidChangeValue((value) => {
      isAccepted = false;
      const typed = typedDirectory(value.trim());
      // New items leave nothing active for a moment, in which an Enter would be lost.
      if (typed === offered) return;
      offered = typed;
      if (typed === undefined) {
        pick.items = items;
        return;
      }
      offer(typed, '');
      void exists(typed).then((isThere) => {
        if (typed === offered && !isThere) offer(typed, 'is not there yet: you are asked whether to make it');
      });
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

async function itemsFor({ remembered, launch, preview }: DirectoryQuestion): Promise<readonly ChoiceItem[]> {
  const folders = workspaceFolders();
  const others: string[] = [];
  for (const one of remembered) if (!folders.includes(one) && (await exists(one))) others.push(one);
  return [
    ...folders.map((directory): ChoiceItem => {
      const name = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(directory))?.name ?? directory;
      return { label: `$(folder) ${name}`, description: directory, choice: { kind: 'directory', directory } };
    }),
    ...others.map((directory): ChoiceItem => {
      return { label: `$(history) ${directory}`, description: 'used before', choice: { kind: 'directory', directory } };
    }),
    { label: '$(folder-opened) Browse...', alwaysShow: true, choice: { kind: 'browse' } },
    { label: 'How it is started', kind: vscode.QuickPickItemKind.Separator },
    {
      label: '$(gear) Model and Permission Mode...',
      description: launchWords(launch),
      choice: { kind: 'options' },
    },
    { label: '$(copy) Copy the Command', detail: preview, choice: { kind: 'copy the command' } },
  ];
}

/** An absolute path as it was typed; `~` is the home directory. */
function typedDirectory(text: string): string | undefined {
  if (text === '~' || text.startsWith('~/')) return join(homedir(), text.slice(1));
  return isAbsolute(text) ? text : undefined;
}
