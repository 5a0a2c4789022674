import type { Agent } from './agent.ts';
import { currentLaunch } from './agent.ts';
import type { FleetSettings } from './configuration.ts';
import type { FleetEvent } from './events.ts';
import { launchedWith, marked } from './reduceConfiguration.ts';
import type { FleetState } from './state.ts';

/** So many are kept of each list. */
const kept = 500;

type FactOf<Kind extends FleetEvent['kind']> = Extract<FleetEvent, { kind: Kind }>;

/** The agent with its servers as the person's files name them now; a process that has others is launched anew when idle. */
export function ownServersRead(agent: Agent, event: FactOf<'own servers read'>, settings: FleetSettings): Agent {
  const { servers, launchId, at } = event;
  const launch = currentLaunch(agent);
  if (JSON.stringify(agent.ownServers) === JSON.stringify(servers)) return agent;
  const next = { ...agent, ownServers: servers };
  if (launchId !== undefined) return launchId === launch?.id ? next : agent;
  // What the process of an older Bowline has is not known.
  if (launch !== undefined && agent.ownServers === undefined) return agent;
  return marked(next, launchedWith(agent, settings), settings, { at, when: 'idle' });
}

export function serverApproved(state: FleetState, event: FactOf<'server approved'>): FleetState {
  const { digest, server, file, at, asker = 'gateway' } = event;
  const others = (state.approvedServers ?? []).filter((one) => one.digest !== digest);
  return { ...state, approvedServers: [...others, { digest, server, file, at, by: asker }].slice(-kept) };
}

export function serverWithdrawn(state: FleetState, digest: string): FleetState {
  const { approvedServers = [] } = state;
  const rest = approvedServers.filter((one) => one.digest !== digest);
  return rest.length === approvedServers.length ? state : { ...state, approvedServers: rest };
}

export function serverWantsLogin(state: FleetState, digest: string): FleetState {
  const { loginServers = [] } = state;
  return loginServers.includes(digest) ? state : { ...state, loginServers: [...loginServers, digest].slice(-kept) };
}
