import type { AgentConfiguration } from './configuration.ts';

/**
 * Whether a change of each field needs another launch. The model does, too: `/model` typed into a conversation stops at a
 * question (claude 2.1.160), and in both versions it becomes the person's default for every new session (measured, claude
 * 2.1.160 and 2.1.332). Bowline's own policies hold at once.
 */
const needs: Readonly<Record<keyof AgentConfiguration, 'relaunch' | 'nothing'>> = {
  directory: 'relaunch',
  addedDirectories: 'relaunch',
  model: 'relaunch',
  permissionMode: 'relaunch',
  effort: 'relaunch',
  systemPrompt: 'relaunch',
  extraArguments: 'relaunch',
  environment: 'relaunch',
  servers: 'relaunch',
  healing: 'nothing',
  failedResume: 'nothing',
  idleMinutes: 'nothing',
  // What it does to the servers is found when they are read anew.
  aroundBowline: 'nothing',
};

/** In the person's words. */
export const fieldNames: Readonly<Record<keyof AgentConfiguration, string>> = {
  directory: 'directory',
  addedDirectories: 'added directories',
  model: 'model',
  permissionMode: 'permission mode',
  effort: 'effort',
  systemPrompt: 'system prompt',
  extraArguments: 'extra arguments',
  environment: 'environment',
  servers: 'MCP servers',
  healing: 'healing',
  failedResume: 'failed resume',
  idleMinutes: 'idle minutes',
  aroundBowline: 'MCP servers around Bowline',
};

/** What differs between two configurations so that the process must be launched anew, in the person's words. */
export function needsRelaunch(before: AgentConfiguration, after: AgentConfiguration): readonly string[] {
  const fields = Object.keys(needs) as (keyof AgentConfiguration)[];
  return fields
    .filter((field) => needs[field] === 'relaunch' && meaning(before, field) !== meaning(after, field))
    .map((field) => fieldNames[field]);
}

/** Directories and servers are a set, variables have no order, the order of arguments has a meaning. */
function meaning(configuration: AgentConfiguration, field: keyof AgentConfiguration): string {
  if (field === 'addedDirectories') return JSON.stringify([...new Set(configuration.addedDirectories)].sort());
  if (field === 'environment' || field === 'servers') {
    const entries = Object.entries(configuration[field]).filter(([, value]) => field !== 'servers' || value === 'on');
    return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  return JSON.stringify([configuration[field]]);
}
