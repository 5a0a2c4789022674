import { without } from './agentUpdate.ts';
import { switchedServers } from './builtInServers.ts';
import { needsRelaunch } from './configurationChange.ts';
import { type Agent, currentLaunch } from './agent.ts';
import type { AgentConfiguration, FleetSettings } from './configuration.ts';
import { serverMarks } from '../mcp/ownServer.ts';
import type { Launch } from './life.ts';

/** The agent with another configuration; its process keeps the former one until it is launched anew. */
export function configured(agent: Agent, next: AgentConfiguration, settings: FleetSettings, at: number): Agent {
  const from = launchedWith(agent, settings);
  return marked({ ...agent, configuration: next }, from, settings, { at, when: 'idle' });
}

/** The agent after a change of the fleet's settings: its process has the variables and servers of its launch. */
export function underSettings(agent: Agent, before: FleetSettings, after: FleetSettings, at: number): Agent {
  const configuration = switchedServers(agent.configuration, before, after);
  const next = configuration === agent.configuration ? agent : { ...agent, configuration };
  return marked(next, launchedWith(agent, before), after, { at, when: 'asked' });
}

/** The agent once a launch runs: it was made of the configuration at its request, or of a later one. */
export function afterLaunch(agent: Agent, launch: Launch): Agent {
  const { relaunch } = agent;
  return relaunch === undefined || relaunch.since > launch.requestedAt ? agent : without(agent, 'relaunch');
}

/** A relaunch that could not start is not tried again by itself. */
export function relaunchFailed(agent: Agent, launch: Launch): Agent {
  const { relaunch } = agent;
  if (relaunch === undefined || launch.cause !== 'configuration') return agent;
  return { ...agent, relaunch: { ...relaunch, when: 'asked' } };
}

export function marked(
  agent: Agent,
  from: AgentConfiguration,
  settings: FleetSettings,
  { at, when }: { readonly at: number; readonly when: 'idle' | 'asked' },
): Agent {
  const launch = currentLaunch(agent);
  const former = agent.relaunch;
  const rest = former === undefined ? agent : without(agent, 'relaunch');
  if (launch === undefined) return rest;
  // What the process has is what it was launched with, also after several changes.
  const base = former !== undefined && launch.requestedAt < former.since ? former.from : from;
  const changed = needsRelaunch(base, launchedWith(agent, settings));
  if (changed.length === 0) return rest;
  const isOnlyOld = former !== undefined && needsRelaunch(from, launchedWith(agent, settings)).length === 0;
  if (isOnlyOld) return agent;
  return {
    ...agent,
    relaunch: { since: at, from: base, changed, when: former?.when === 'idle' ? 'idle' : when },
  };
}

/** The configuration with all variables and servers that a launch would get. */
export function launchedWith({ configuration, ownServers }: Agent, settings: FleetSettings): AgentConfiguration {
  return {
    ...configuration,
    environment: { ...settings.environment, ...configuration.environment },
    servers: { ...configuration.servers, ...serverMarks(ownServers) },
  };
}
