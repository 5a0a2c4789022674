import { sep } from 'node:path';
import { needOf } from '../core/fleet/need.ts';
import type { AgentRow } from '../core/fleet/select.ts';

/** How the Agents view is parted. */
export type AgentGrouping = 'none' | 'workspace' | 'state';

export interface AgentGroup {
  /** Undefined: the agents stand alone, without a row above them. */
  readonly label: string | undefined;
  /** In the order in which they are shown. */
  readonly agents: readonly AgentRow[];
}

/** Agents that wait for a person first, then those of the open folders; among equals by name. */
export function orderAgents(agents: readonly AgentRow[], folders: readonly string[]): readonly AgentRow[] {
  const rank = (agent: AgentRow): number =>
    (needOf(agent) === undefined ? 2 : 0) + (belongsTo(agent.directory, folders) ? 0 : 1);
  const ranked = agents.map((agent) => ({ agent, rank: rank(agent) }));
  ranked.sort((a, b) => a.rank - b.rank || (a.agent.name < b.agent.name ? -1 : 1));
  return ranked.map(({ agent }) => agent);
}

/** Whether `directory` is one of the folders or below one. */
export function belongsTo(directory: string, folders: readonly string[]): boolean {
  return folders.some((folder) => {
    const below = folder.endsWith(sep) ? folder : folder + sep;
    return (directory + sep).startsWith(below);
  });
}

/** Parts agents that are in order; no group is empty. */
export function groupAgents(
  agents: readonly AgentRow[],
  grouping: AgentGrouping,
  folders: readonly string[],
): readonly AgentGroup[] {
  if (grouping === 'none') return agents.length === 0 ? [] : [{ label: undefined, agents }];
  const labels = grouping === 'state' ? stateLabels : [...folders.map(baseName), elsewhere];
  const labelOf = grouping === 'state' ? stateLabel : (agent: AgentRow) => folderLabel(agent, folders);
  return [...new Set(labels)]
    .map((label) => ({ label, agents: agents.filter((agent) => labelOf(agent) === label) }))
    .filter((group) => group.agents.length > 0);
}

const stateLabels = [
  'Waiting for You',
  'Without Tools',
  'Working',
  'Idle',
  'Starting or Ending',
  'Sleeping',
  'Stopped',
] as const;

function stateLabel(agent: AgentRow): (typeof stateLabels)[number] {
  if (needOf(agent) !== undefined) return 'Waiting for You';
  switch (agent.life) {
    case 'healing':
      return 'Without Tools';
    case 'launching':
    case 'verifying':
    case 'stopping':
      return 'Starting or Ending';
    case 'sleeping':
      return 'Sleeping';
    case 'stopped':
    case 'blocked':
    case 'dead':
      return 'Stopped';
    case 'ready':
      if (agent.worst === 'unbound') return 'Without Tools';
      return agent.activity === 'busy' ? 'Working' : 'Idle';
  }
}

const elsewhere = 'Other Directories';

function folderLabel({ directory }: AgentRow, folders: readonly string[]): string {
  const folder = folders.find((one) => belongsTo(directory, [one]));
  return folder === undefined ? elsewhere : baseName(folder);
}

/** The agents in whose name, directory or shown facts every word of the filter stands, whatever its case. */
export function filterAgents(
  agents: readonly AgentRow[],
  filter: string,
  facts: (agent: AgentRow) => string,
): readonly AgentRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return agents;
  return agents.filter((agent) => {
    const text = `${agent.name} ${agent.directory} ${facts(agent)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The last part of a path. */
export function baseName(directory: string): string {
  return directory.split(sep).filter(Boolean).at(-1) ?? directory;
}
