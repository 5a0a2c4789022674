import { realpathSync } from 'node:fs';
import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';
import {
  agentLook,
  agentTooltip,
  endpointLook,
  endpointTooltip,
  orderAgents,
  type RowLook,
  type TooltipLines,
} from './agentRows.ts';
import type { AgentNode } from './agentNodes.ts';
import type { AgentRow, EndpointRow } from '../core/fleet/select.ts';
import type { FleetPresenter } from './fleetPresenter.ts';

/** The Agents view: one row per agent, agents of the open folders first, and below each one row per MCP endpoint. */
export class AgentsTree extends DisposableObject implements vscode.TreeDataProvider<AgentNode> {
  private readonly changeEmitter = this._register(new vscode.EventEmitter<undefined>());
  private drawn = '';
  private folders: readonly string[] | undefined;

  readonly onDidChangeTreeData = this.changeEmitter.event;

  constructor(private readonly presenter: FleetPresenter) {
    super();
    const view = this._register(
      vscode.window.createTreeView<AgentNode>('bowline.agents', { treeDataProvider: this, showCollapseAll: true }),
    );
    this._register(
      presenter.onDidChange(({ agents, blackouts }) => {
        const names = new Set(blackouts.flatMap((blackout) => blackout.agents));
        view.badge =
          names.size === 0
            ? undefined
            : { value: names.size, tooltip: `${names.size} of ${agents.length} agents lost their tools` };
        this.redraw();
      }),
    );
    this._register(
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.folders = undefined;
        this.redraw();
      }),
    );
  }

  getChildren(node?: AgentNode): AgentNode[] {
    if (node === undefined) {
      return this.ordered().map(({ name }): AgentNode => ({ kind: 'agent', agent: name }));
    }
    if (node.kind === 'endpoint') return [];
    const agent = this.presenter.view.agents.find(({ name }) => name === node.agent);
    return (agent?.endpoints ?? []).map(({ server }) => ({ kind: 'endpoint', agent: node.agent, server }));
  }

  getParent(node: AgentNode): AgentNode | undefined {
    return node.kind === 'endpoint' ? { kind: 'agent', agent: node.agent } : undefined;
  }

  getTreeItem(node: AgentNode): vscode.TreeItem {
    const { agent, endpoint } = this.find(node);
    if (agent === undefined) return new vscode.TreeItem(node.agent); // gone since the children were asked for
    const look = endpoint === undefined ? agentLook(agent, this.presenter) : endpointLook(agent, endpoint);
    const isAgent = node.kind === 'agent';
    const item = new vscode.TreeItem(
      look.label,
      isAgent ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
    );
    item.id = isAgent ? node.agent : `${node.agent}/${node.server}`;
    item.description = look.description;
    item.iconPath = icon(look);
    item.contextValue = look.contextValue;
    item.accessibilityInformation = { label: look.accessibleLabel };
    if (isAgent) item.command = { command: 'bowline.attach', title: 'Attach', arguments: [node] };
    return item;
  }

  /** VS Code asks when a person points at the row. */
  resolveTreeItem(item: vscode.TreeItem, node: AgentNode): vscode.TreeItem {
    const { agent, endpoint } = this.find(node);
    if (agent === undefined) return item;
    item.tooltip = tooltip(endpoint === undefined ? agentTooltip(agent) : endpointTooltip(endpoint));
    return item;
  }

  private find(node: AgentNode): { readonly agent?: AgentRow; readonly endpoint?: EndpointRow } {
    const agent = this.presenter.view.agents.find(({ name }) => name === node.agent);
    if (agent === undefined || node.kind === 'agent') return { ...(agent !== undefined && { agent }) };
    const endpoint = agent.endpoints.find(({ server }) => server === node.server);
    return endpoint === undefined ? {} : { agent, endpoint };
  }

  private ordered(): readonly AgentRow[] {
    // Links are not looked up at each change of an agent.
    this.folders ??= realWorkspaceFolders();
    return orderAgents(this.presenter.view.agents, this.folders);
  }

  /** Only when a row looks different: drawing anew closes the hover that a person reads. */
  private redraw(): void {
    const rows = this.ordered().map((agent) => [
      agentLook(agent, this.presenter),
      agent.endpoints.map((endpoint) => endpointLook(agent, endpoint)),
    ]);
    const drawn = JSON.stringify(rows);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.changeEmitter.fire(undefined);
  }
}

/** Paths of the open folders. */
export function workspaceFolders(): readonly string[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
}

/** The same without symbolic links: directories of agents are kept like that. */
export function realWorkspaceFolders(): readonly string[] {
  return workspaceFolders().map((folder) => {
    try {
      return realpathSync(folder);
    } catch {
      return folder; // not on this disk: no agent is in it
    }
  });
}

function icon({ icon: { id, color } }: RowLook): vscode.ThemeIcon {
  return new vscode.ThemeIcon(id, color === undefined ? undefined : new vscode.ThemeColor(color));
}

/** Names and details come from elsewhere: they are appended as text, never as Markdown. */
function tooltip(lines: TooltipLines): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  for (const [title, text] of lines) {
    markdown.appendMarkdown('**').appendText(title).appendMarkdown(':** ').appendText(text).appendMarkdown('\n\n');
  }
  return markdown;
}
