import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { needOf } from '../../core/fleet/need.ts';
import { orderAgents, type AgentGrouping } from '../agentOrder.ts';
import { realWorkspaceFolders } from '../agentsTree.ts';
import { nextInNeed } from '../nextInNeed.ts';
import { attach } from './attach.ts';
import type { CommandContext } from './commandContext.ts';
import { showCauses } from './showCauses.ts';

/** The agent that this command went to last. */
const lastVisited = new WeakMap<CommandContext, string>();

/** Goes to the next agent that waits for a person: one after another, and from the last to the first again. */
export async function nextWaiting(context: CommandContext): Promise<void> {
  const { presenter, agents } = context;
  const waiting = orderAgents(presenter.view.agents, realWorkspaceFolders()).filter((row) => needOf(row) !== undefined);
  const row = nextInNeed(waiting, lastVisited.get(context));
  if (row === undefined) {
    void vscode.window.showInformationMessage('No agent waits for you.');
    return;
  }
  lastVisited.set(context, row.name);
  await agents.mark(row.name);
  // What has no process has nothing to attach to: what can be done about it is listed.
  if (row.worst === 'off') await showCauses(context);
  else await attach(context, row.name);
}

const groupings: readonly { readonly label: string; readonly detail: string; readonly grouping: AgentGrouping }[] = [
  { label: 'Not at all', detail: 'Those that wait for you first, then those of this workspace.', grouping: 'none' },
  {
    label: 'By Workspace Folder',
    detail: 'One group for each open folder, and one for all others.',
    grouping: 'workspace',
  },
  { label: 'By State', detail: 'Waiting for you, without tools, working, idle, sleeping, stopped.', grouping: 'state' },
];

/** A caller may give what else is asked for. */
const groupingSchema = z.object({ grouping: z.enum(['none', 'workspace', 'state']) });
const filterSchema = z.object({ filter: z.string() });

/** Parts the Agents view; remembered for the workspace. */
export async function groupAgentsBy({ agents }: CommandContext, argument: unknown): Promise<void> {
  const given = groupingSchema.safeParse(argument);
  if (given.success) {
    agents.grouping = given.data.grouping;
    return;
  }
  const items = groupings.map((one) => ({ ...one, ...(one.grouping === agents.grouping && { description: 'now' }) }));
  const picked = await vscode.window.showQuickPick(items, { title: 'Group the agents how?', matchOnDetail: true });
  if (picked !== undefined) agents.grouping = picked.grouping;
}

/** Shows only agents that fit, from the first letter on; Escape brings back what was before. */
export async function filterAgentsBy({ agents }: CommandContext, argument: unknown): Promise<void> {
  const given = filterSchema.safeParse(argument);
  if (given.success) {
    agents.filter = given.data.filter;
    return;
  }
  const before = agents.filter;
  await vscode.commands.executeCommand('bowline.agents.focus');
  const input = vscode.window.createInputBox();
  input.title = 'Show Which Agents?';
  input.prompt = 'Words of the name, the directory or the state, such as idle or waiting. Empty: all.';
  input.value = before;
  let isAccepted = false;
  input.onDidChangeValue((value) => {
    agents.filter = value;
  });
  input.onDidAccept(() => {
    isAccepted = true;
    input.hide();
  });
  await new Promise<void>((resolve) => {
    input.onDidHide(() => {
      if (!isAccepted) agents.filter = before;
      input.dispose();
      resolve();
    });
    input.show();
  });
}

export function clearAgentFilter({ agents }: CommandContext): Promise<void> {
  agents.filter = '';
  return Promise.resolve();
}
