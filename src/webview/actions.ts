import { causeText } from '../core/binding/causes.ts';
import type { AgentRow, Blackout, Connection, EndpointRow } from '../core/fleet/select.ts';
import type { WebviewToHostMessage } from '../protocol/webview.ts';

export type CommandMessage = Extract<WebviewToHostMessage, { kind: 'command' }>;

/** A button: what it says, and what is asked of the host when it is pressed, in this order. */
export interface Action {
  readonly command: CommandMessage['command'];
  /** Short, for sight and hover. */
  readonly label: string;
  /** For screen readers: the label, and what it is done to. */
  readonly description: string;
  readonly icon: string;
  readonly messages: readonly CommandMessage[];
  /** Why it cannot be done now. */
  readonly refusal?: string;
}

const icons = {
  attach: 'terminal',
  verify: 'pulse',
  reconnect: 'plug',
  reconnectUpstream: 'refresh',
  heal: 'heart',
  restart: 'debug-restart',
  showLog: 'output',
  newAgent: 'add',
} as const;

/** What can be done with an agent as a whole. */
export function agentActions(row: AgentRow, connection: Connection['kind']): readonly Action[] {
  const actions: Action[] = [];
  if (hasProcess(row) && row.life !== 'launching' && row.life !== 'stopping') {
    actions.push(forAgents('verify', 'Verify Binding', `Verify binding of ${row.name}`, [row.name], connection));
  }
  if (row.life === 'stopped' || row.life === 'sleeping') {
    const verb = row.life === 'stopped' ? 'Start' : 'Wake';
    actions.push({
      ...forAgents('restart', verb, `${verb} ${row.name}`, [row.name], connection),
      icon: 'debug-start',
    });
  } else if (row.life !== 'stopping') {
    actions.push(forAgents('restart', 'Restart', `Restart ${row.name}`, [row.name], connection));
  }
  // Attaching to one that sleeps wakes it.
  if (hasProcess(row) || row.life === 'sleeping')
    actions.push(forAgents('attach', 'Attach', `Attach to ${row.name}`, [row.name], connection));
  return actions;
}

/** What mends one endpoint of an agent, the likeliest first. `blackout`: the one that the agent is in. */
export function endpointActions(
  row: AgentRow,
  { server, state, upstream }: EndpointRow,
  blackout: Blackout | undefined,
  connection: Connection['kind'],
): readonly Action[] {
  if (!hasProcess(row) || state === 'off' || state === 'pending') return [];
  const heal = blackout !== undefined && causeText(blackout.cause).mend === 'reconnect' && state !== 'bound';
  const mine = (command: 'reconnect' | 'reconnectUpstream', label: string): Action => ({
    ...{ command, label, icon: icons[command], description: `${label}: ${server} of ${row.name}` },
    messages: [{ kind: 'command', command, agent: row.name, server }],
    ...refusalOf(command, connection),
  });
  const own = [mine('reconnect', 'Reconnect MCP')];
  const behind = upstream === undefined ? [] : [mine('reconnectUpstream', 'Reconnect Upstream')];
  return [
    ...(heal ? [healAction([row.name], connection)] : []),
    ...(state === 'degraded' ? [...behind, ...own] : [...own, ...behind]),
  ];
}

/** What can be done about a blackout: for all its agents at once, told in the label. */
export function blackoutActions({ agents, cause }: Blackout, connection: Connection['kind']): readonly Action[] {
  const [first = ''] = agents;
  const isOne = agents.length === 1;
  const all = `${agents.length} Agents`;
  if (cause === 'trust dialog' || cause === 'approval dialog') {
    const label = isOne ? 'Attach' : `Attach to ${all}`;
    return [forAgents('attach', label, isOne ? `Attach to ${first}` : label, agents, connection)];
  }
  const restart = isOne ? 'Restart' : `Restart ${all}`;
  return [
    ...(causeText(cause).mend === 'reconnect' ? [healAction(agents, connection)] : []),
    forAgents('restart', restart, isOne ? `Restart ${first}` : restart, agents, connection),
  ];
}

/** The way to the reasons while the gateway is away. */
export const showLogAction: Action = {
  command: 'showLog',
  label: 'Show Log',
  description: 'Show Log',
  icon: icons.showLog,
  messages: [{ kind: 'command', command: 'showLog' }],
};

/** The first step of a person without agents. */
export const newAgentAction: Action = {
  command: 'newAgent',
  label: 'New Agent',
  description: 'New Agent',
  icon: icons.newAgent,
  messages: [{ kind: 'command', command: 'newAgent' }],
};

function healAction(agents: readonly string[], connection: Connection['kind']): Action {
  const isOne = agents.length === 1;
  const label = isOne ? 'Heal Now' : `Heal ${agents.length} Agents`;
  return {
    ...{ command: 'heal', label, description: isOne ? `${label}: ${agents[0]}` : label, icon: icons.heal },
    messages: [{ kind: 'command', command: 'heal', agents: [...agents] }],
    ...refusalOf('heal', connection),
  };
}

function forAgents(
  command: 'attach' | 'verify' | 'restart',
  label: string,
  description: string,
  agents: readonly string[],
  connection: Connection['kind'],
): Action {
  return {
    command,
    label,
    description,
    icon: icons[command],
    messages: agents.map((agent) => ({ kind: 'command', command, agent })),
    ...refusalOf(command, connection),
  };
}

/** A terminal and the log need no gateway; all else is executed by it. */
function refusalOf(command: CommandMessage['command'], connection: Connection['kind']): { refusal?: string } {
  if (connection === 'connected' || command === 'attach' || command === 'showLog' || command === 'newAgent') return {};
  return { refusal: 'Not now: the gateway is away' };
}

/** Whether there is a process to look at: an agent without one has its endpoints off. */
function hasProcess({ life, endpoints }: AgentRow): boolean {
  switch (life) {
    case 'launching':
    case 'verifying':
    case 'ready':
    case 'healing':
    case 'stopping':
      return true;
    case 'blocked':
    case 'dead':
      return endpoints.some(({ state }) => state !== 'off');
    case 'stopped':
    case 'sleeping':
      return false;
  }
}
