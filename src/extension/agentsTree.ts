import { realpathSync } from 'node:fs';
import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';
import { needOf } from '../core/fleet/need.ts';
import type { AgentRow, EndpointRow } from '../core/fleet/select.ts';
import type { AgentNode } from './agentNodes.ts';
import { type AgentGroup, type AgentGrouping, filterAgents, groupAgents, orderAgents } from './agentOrder.ts';
import {
  agentLook,
  agentTooltip,
  endpointLook,
  endpointTooltip,
  type RowLook,
  type TooltipLines,
} from './agentRows.ts';
import type { FleetPresenter } from './fleetPresenter.ts';
import type { Memory } from './memory.ts';
import { changedRows, needBadge, type ShownRows } from './treeChanges.ts';

const groupingKey = 'agentsGrouping';

/**
 * The Agents view: one row per agent, those that wait for a person first, and below each one row per MCP endpoint; parted
 * and filtered as the person wants it.
 */
export class AgentsTree extends DisposableObject implements vscode.TreeDataProvider<AgentNode> {
  private readonly changeEmitter = this._register(new vscode.EventEmitter<AgentNode | undefined>());
  /** VS Code knows a row again by the object that stood for it. */
  private readonly nodes = new Map<string, AgentNode>();
  private readonly treeView: vscode.TreeView<AgentNode>;
  private drawn: ShownRows = new Map();
  private folders: readonly string[] | undefined;
  private rows: { readonly of: unknown; readonly byName: ReadonlyMap<string, AgentRow> } | undefined;
  private filterText = '';
  private badgeText = '';

  readonly onDidChangeTreeData = this.changeEmitter.event;

  constructor(
    private readonly presenter: FleetPresenter,
    private readonly memory: Memory,
  ) {
    super();
    this.treeView = this._register(
      vscode.window.createTreeView<AgentNode>('bowline.agents', {
        treeDataProvider: this,
        showCollapseAll: true,
        canSelectMany: true,
      }),
    );
    this._register(
      presenter.onDidChangeNow(() => {
        this.redraw();
      }),
    );
    this._register(
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.folders = undefined;
        this.redraw();
      }),
    );
    this.redraw();
  }

  get grouping(): AgentGrouping {
    const kept = this.memory.get(groupingKey);
    return kept === 'workspace' || kept === 'state' ? kept : 'none';
  }

  set grouping(grouping: AgentGrouping) {
    void this.memory.update(groupingKey, grouping);
    this.redraw();
  }

  get filter(): string {
    return this.filterText;
  }

  /** Only agents that hold every word of it are shown; empty: all. */
  set filter(filter: string) {
    const isSet = filter.trim() !== '';
    this.filterText = filter;
    void vscode.commands.executeCommand('setContext', 'bowline.agentsFiltered', isSet);
    this.redraw();
  }

  /** Marks the agent where the view is in sight; opens nothing. */
  async mark(agent: string): Promise<void> {
    if (!this.treeView.visible || this.groups().every(({ agents }) => agents.every(({ name }) => name !== agent)))
      return;
    await this.treeView.reveal(this.agentNode(agent), { select: true, focus: false });
  }

  getChildren(node?: AgentNode): AgentNode[] {
    if (node?.kind === 'endpoint') return [];
    if (node?.kind === 'agent') {
      const { endpoints = [] } = this.find(node.agent) ?? {};
      return endpoints.map(({ server }) => this.endpointNode(node.agent, server));
    }
    const groups = this.groups();
    const shown = node === undefined ? groups : groups.filter(({ label }) => label === node.group);
    return shown.flatMap(({ label, agents }) =>
      node === undefined && label !== undefined
        ? [this.groupNode(label)]
        : agents.map(({ name }) => this.agentNode(name)),
    );
  }

  getParent(node: AgentNode): AgentNode | undefined {
    if (node.kind === 'endpoint') return this.agentNode(node.agent);
    if (node.kind === 'group') return undefined;
    const group = this.groups().find(({ agents }) => agents.some(({ name }) => name === node.agent));
    return group?.label === undefined ? undefined : this.groupNode(group.label);
  }

  getTreeItem(node: AgentNode): vscode.TreeItem {
    if (node.kind === 'group') return this.groupItem(node.group);
    const agent = this.find(node.agent);
    if (agent === undefined) return new vscode.TreeItem(node.agent); // gone since the children were asked for
    const isAgent = node.kind === 'agent';
    const endpoint = isAgent ? undefined : endpointOf(agent, node.server);
    const look = endpoint === undefined ? agentLook(agent, this.presenter) : endpointLook(agent, endpoint);
    const { Collapsed, None } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(look.label, isAgent ? Collapsed : None);
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
    const agent = node.kind === 'group' ? undefined : this.find(node.agent);
    if (agent === undefined || node.kind === 'group') return item;
    const endpoint = node.kind === 'endpoint' ? endpointOf(agent, node.server) : undefined;
    item.tooltip = tooltip(endpoint === undefined ? agentTooltip(agent) : endpointTooltip(endpoint));
    return item;
  }

  private groupItem(label: string): vscode.TreeItem {
    const { agents = [] } = this.groups().find((group) => group.label === label) ?? {};
    const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Expanded);
    item.id = `group ${label}`;
    item.description = String(agents.length);
    item.contextValue = 'group';
    item.accessibilityInformation = {
      label: `${label}, ${agents.length === 1 ? '1 agent' : `${agents.length} agents`}`,
    };
    return item;
  }

  private find(name: string): AgentRow | undefined {
    const { agents } = this.presenter.view;
    if (this.rows?.of !== agents) this.rows = { of: agents, byName: new Map(agents.map((row) => [row.name, row])) };
    return this.rows.byName.get(name);
  }

  private groups(): readonly AgentGroup[] {
    // Links are not looked up at each change of an agent.
    this.folders ??= realWorkspaceFolders();
    const ordered = orderAgents(this.presenter.view.agents, this.folders);
    const facts = (agent: AgentRow): string => agentLook(agent, this.presenter).description;
    return groupAgents(filterAgents(ordered, this.filterText, facts), this.grouping, this.folders);
  }

  private agentNode(agent: string): AgentNode {
    return this.node(`agent ${agent}`, { kind: 'agent', agent });
  }

  private endpointNode(agent: string, server: string): AgentNode {
    return this.node(`endpoint ${agent}/${server}`, { kind: 'endpoint', agent, server });
  }

  private groupNode(group: string): AgentNode {
    return this.node(`group ${group}`, { kind: 'group', group });
  }

  private node(key: string, made: AgentNode): AgentNode {
    const known = this.nodes.get(key) ?? made;
    this.nodes.set(key, known);
    return known;
  }

  /** Only rows that look different: drawing anew closes the hover that a person reads. */
  private redraw(): void {
    const groups = this.groups();
    this.tellFilter(groups);
    this.setBadge();
    const before = this.drawn;
    this.drawn = new Map(
      groups.flatMap(({ label = '', agents }) =>
        agents.map((agent) => {
          const looks = agent.endpoints.map((endpoint) => endpointLook(agent, endpoint));
          return [
            agent.name,
            { group: label, look: JSON.stringify([agentLook(agent, this.presenter), looks]) },
          ] as const;
        }),
      ),
    );
    const changed = changedRows(before, this.drawn);
    if (changed === 'all') {
      for (const [key, node] of this.nodes)
        if ('agent' in node && this.find(node.agent) === undefined) this.nodes.delete(key);
      this.changeEmitter.fire(undefined);
    } else for (const name of changed) this.changeEmitter.fire(this.agentNode(name));
  }

  private tellFilter(groups: readonly AgentGroup[]): void {
    const { length: all } = this.presenter.view.agents;
    const shown = groups.reduce((sum, { agents }) => sum + agents.length, 0);
    const isSet = this.filterText.trim() !== '';
    const description = isSet ? `"${this.filterText.trim()}": ${shown} of ${all}` : '';
    const message = isSet && shown === 0 && all > 0 ? 'No agent fits the filter. Clear Agent Filter shows all.' : '';
    if ((this.treeView.description ?? '') !== description) this.treeView.description = description;
    if ((this.treeView.message ?? '') !== message) this.treeView.message = message;
  }

  private setBadge(): void {
    const badge = needBadge(this.presenter.view.agents.filter((agent) => needOf(agent) !== undefined));
    const text = badge?.tooltip ?? '';
    if (text === this.badgeText) return;
    this.badgeText = text;
    this.treeView.badge = badge;
  }
}

function endpointOf(agent: AgentRow, server: string): EndpointRow | undefined {
  return agent.endpoints.find((endpoint) => endpoint.server === server);
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
