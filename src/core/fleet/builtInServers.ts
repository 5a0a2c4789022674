import type { AgentConfiguration, FleetSettings } from './configuration.ts';

/** The MCP servers of the gateway itself, in the order in which an agent is given them. */
export const builtInServers = ['bowline-self', 'bowline-messaging', 'bowline-memory'] as const;

export type BuiltInServer = (typeof builtInServers)[number];

/** Whether it is one of the gateway's own, and no server of an agent's. */
export function isBuiltIn(server: string): boolean {
  return builtInServers.some((name) => name === server);
}

/** What a new agent is given. */
export function newServers({ messaging = 'off', memory = 'off' }: FleetSettings): Record<BuiltInServer, 'on' | 'off'> {
  return { 'bowline-self': 'on', 'bowline-messaging': messaging, 'bowline-memory': memory };
}

/** Names of the servers that can be switched for an agent. */
export function switchableServers({ servers }: Pick<AgentConfiguration, 'servers'>): readonly string[] {
  return [...new Set([...builtInServers, ...Object.keys(servers)])];
}

/** The configuration after a change of the settings: what they switch is switched for every agent, the last word counts. */
export function switchedServers(
  configuration: AgentConfiguration,
  before: FleetSettings,
  after: FleetSettings,
): AgentConfiguration {
  const [former, present] = [newServers(before), newServers(after)];
  const changed = builtInServers.filter(
    (name) => former[name] !== present[name] && configuration.servers[name] !== present[name],
  );
  if (changed.length === 0) return configuration;
  const switched = Object.fromEntries(changed.map((name) => [name, present[name]]));
  return { ...configuration, servers: { ...configuration.servers, ...switched } };
}
