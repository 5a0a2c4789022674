import * as vscode from 'vscode';
import { type ServerList, serverListSchema } from '../../protocol/ownServers.ts';
import { askGateway } from '../askGateway.ts';
import {
  actionLabels,
  type ServerAction,
  serverActions,
  serverOrigin,
  serverState,
  shownDefinition,
} from '../ownServerText.ts';
import type { CommandContext } from './commandContext.ts';
import { chooseAgent, connect } from './interaction.ts';

type ListedServer = ServerList['servers'][number];

/** A dialog shows so many lines without hiding the end of them. */
const linesInDialog = 20;

/** Shows an agent's own MCP servers and how each is reached, and changes that, until the person closes the list. */
export async function mcpServers(context: CommandContext, argument: unknown): Promise<void> {
  const row = await chooseAgent(context, argument, { title: 'MCP servers of which agent?' });
  if (row === undefined) return;
  await connect(context);
  const { name } = row;
  for (;;) {
    const { servers } = await askGateway(context.paths, `/agents/${name}/servers`, serverListSchema);
    if (servers.length === 0) {
      const sentence = `${name} has no MCP servers of its own. They come from Claude's files, such as .mcp.json, and from the setting bowline.mcpServers.`;
      void vscode.window.showInformationMessage(sentence);
      return;
    }
    const items = servers.map((listed) => ({
      label: listed.server.name,
      description: serverState(listed.server),
      detail: serverOrigin(listed.server),
      listed,
    }));
    const picked = await vscode.window.showQuickPick(items, {
      title: `MCP servers of ${name}`,
      placeHolder: 'Choose one to change how it is reached',
    });
    if (picked === undefined) return;
    await change(context, name, picked.listed);
  }
}

async function change(context: CommandContext, name: string, listed: ListedServer): Promise<void> {
  const { server } = listed;
  const around = context.presenter.state.agents[name]?.configuration.aroundBowline ?? [];
  const items = serverActions(server, around).map((action) => ({ label: actionLabels[action], action }));
  const placeHolder = items.length === 0 ? 'Nothing can be changed here' : serverState(server);
  const picked = await vscode.window.showQuickPick(items, { title: `${server.name} of ${name}`, placeHolder });
  if (picked !== undefined) await act(context, name, listed, picked.action);
}

async function act(
  { client, presenter }: CommandContext,
  name: string,
  listed: ListedServer,
  action: ServerAction,
): Promise<void> {
  const { server, project } = listed;
  const around = presenter.state.agents[name]?.configuration.aroundBowline ?? [];
  const others = around.filter((one) => one !== server.name);
  switch (action) {
    case 'approve': {
      const { approval } = server;
      if (project === undefined || approval === undefined || !(await confirm(server.name, project))) return;
      await client.request({ kind: 'approve server', name, server: server.name, digest: approval.digest });
      return;
    }
    case 'withdraw':
      await client.request({ kind: 'withdraw server approval', name, server: server.name });
      return;
    case 'around':
      await client.request({ kind: 'configure agent', name, change: { aroundBowline: [...others, server.name] } });
      return;
    case 'through':
      await client.request({ kind: 'configure agent', name, change: { aroundBowline: others } });
      return;
  }
}

/** Asks with the whole definition in sight: what is approved is what was read. */
async function confirm(name: string, project: NonNullable<ListedServer['project']>): Promise<boolean> {
  const definition = shownDefinition(project.definition);
  const isShort = definition.split('\n').length <= linesInDialog && definition.length <= linesInDialog * 80;
  if (!isShort) {
    const document = await vscode.workspace.openTextDocument({ content: definition, language: 'json' });
    await vscode.window.showTextDocument(document);
  }
  const approve = 'Approve';
  const message = `Let agents run the MCP server "${shownDefinition(name)}" of this project?`;
  const where = isShort ? definition : 'Its definition stands in the editor.';
  const detail = `${shownDefinition(project.file)}\n\n${where}\n\nIt may do all that you may. Any change of this definition has to be approved again.`;
  return (await vscode.window.showWarningMessage(message, { modal: true, detail }, approve)) === approve;
}
