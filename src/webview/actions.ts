import { causeText } from '../core/binding/causes.ts';
import type { AgentRow, Blackout, Connection, EndpointRow } from '../core/fleet/select.ts';
import type { WebviewToHostMessage } from '../protocol/webview.ts';

export type CommandMessage = Extract<WebviewToHostMessage, { kind: 'command' }>;

/** A button: what it says, and what is asked of the host when it is pressed, in this order. */
export interface Action {
  readonly command: CommandMessage['command'];
  /** Short, for sight and hover. */
  readonly label: string;
  /** For screen readers: names the agents. */
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
  heal: 'heart',
  restart: 'debug-restart',
  showLog: 'output',
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

/** What can be done with one endpoint of an agent; undefined where there is nothing to reconnect. */
export function endpointAction(
  row: AgentRow,
  endpoint: EndpointRow,
  connection: Connection['kind'],
): Action | undefined {
  if (!hasProcess(row) || endpoint.state === 'off' || endpoint.state === 'pending') return undefined;
  return {
    command: 'reconnect',
    label: 'Reconnect MCP',
    description: `Reconnect ${endpoint.server} of ${row.name}`,
    icon: icons.reconnect,
    messages: [reconnectMessage(row.name, endpoint.server)],
    ...refusalOf('reconnect', connection),
  };
}

/** What can be done about a blackout: for all its agents at once, told in the label. */
export function blackoutActions({ agents, cause }: Blackout, connection: Connection['kind']): readonly Action[] {
  const forWhom = agents.length === 1 ? (agents[0] ?? '') : `all ${agents.length} agents`;
  const count = agents.length === 1 ? '' : ` (${agents.length})`;
  const actions: Action[] = [];
  if (cause === 'trust dialog' || cause === 'approval dialog') {
    return [forAgents('attach', `Attach${count}`, `Attach to ${forWhom}`, agents, connection)];
  }
  if (causeText(cause).mend === 'reconnect') {
    actions.push({
      command: 'heal',
      label: agents.length === 1 ? 'Heal Now' : `Heal All${count}`,
      description: `Heal ${forWhom}`,
      icon: icons.heal,
      messages: [{ kind: 'command', command: 'heal', agents: [...agents] }],
      ...refusalOf('heal', connection),
    });
  }
  actions.push(forAgents('restart', `Restart${count}`, `Restart ${forWhom}`, agents, connection));
  return actions;
}

/** The way to the reasons while the gateway is away. */
export const showLogAction: Action = {
  command: 'showLog',
  label: 'Show Log',
  description: 'Show Log',
  icon: icons.showLog,
  messages: [{ kind: 'command', command: 'showLog' }],
};

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

function reconnectMessage(agent: string, server: string): CommandMessage {
  return { kind: 'command', command: 'reconnect', agent, server };
}

/** A terminal and the log need no gateway; all else is executed by it. */
function refusalOf(command: CommandMessage['command'], connection: Connection['kind']): { refusal?: string } {
  if (connection === 'connected' || command === 'attach' || command === 'showLog') return {};
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
