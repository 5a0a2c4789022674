import type { AgentRow, EndpointRow, FleetView, UpstreamRow } from '../core/fleet/select.ts';
import { currentLaunch } from '../core/fleet/agent.ts';
import { isWaiting } from '../core/fleet/need.ts';
import type { FleetState } from '../core/fleet/state.ts';
import { baseName } from './agentOrder.ts';
import { serverState } from './ownServerText.ts';

/** An icon of the codicon font and the id of a theme colour. */
export interface RowIcon {
  readonly id: string;
  readonly color?: string;
}

/**
 * What a row of the Agents view shows all the time, before it is an object of VS Code. Nothing in it changes while an agent
 * is idle and bound: each change has VS Code draw rows anew.
 */
export interface RowLook {
  readonly label: string;
  readonly description: string;
  readonly icon: RowIcon;
  readonly accessibleLabel: string;
  /** For the `when` clauses of the manifest. */
  readonly contextValue: string;
}

const alert = { color: 'list.errorForeground' };
const attention = { color: 'list.warningForeground' };
const calm = { color: 'testing.iconPassed' };
const dim = { color: 'disabledForeground' };

/** Title and text of each line of a tooltip; plain text. */
export type TooltipLines = readonly (readonly [title: string, text: string])[];

/** The fleet that a row belongs to. */
export interface RowFleet {
  readonly state: FleetState;
  readonly view: Pick<FleetView, 'blackouts'>;
}

export function agentLook(agent: AgentRow, { state, view }: RowFleet): RowLook {
  const known = state.agents[agent.name];
  const isInBlackout = view.blackouts.some(({ agents }) => agents.includes(agent.name));
  const hasProcess = known !== undefined && currentLaunch(known) !== undefined;
  const activity = hasProcess && agent.activity !== 'unknown' ? [agent.activity] : [];
  const facts = [
    // In a narrow side bar the first words are seen, so what asks for the person comes first.
    ...(isWaiting(agent) ? [...activity, agent.life] : [agent.life, ...activity]),
    ...(agent.worst === 'off' ? [] : [agent.worst]),
    ...(isInBlackout ? ['lost its tools'] : []),
    ...(agent.warnings.length > 0 ? ['warning'] : []),
  ];
  const causes = causesOf(agent).map(([, text]) => text);
  return {
    label: agent.name,
    description: `${facts.join(', ')} · ${baseName(agent.directory)}`,
    icon: isInBlackout && agent.life !== 'dead' ? { id: 'debug-disconnect', ...alert } : agentIcon(agent),
    accessibleLabel: [agent.name, ...facts, agent.detail, ...agent.warnings, ...causes]
      .filter((part) => part !== '')
      .join(', '),
    contextValue: hasProcess ? 'agent-running' : agent.life === 'sleeping' ? 'agent-sleeping' : 'agent-stopped',
  };
}

export function agentTooltip(agent: AgentRow): TooltipLines {
  return [
    ['Agent', agent.name],
    ['State', agent.detail === '' ? agent.life : `${agent.life} (${agent.detail})`],
    ...agent.warnings.map((warning) => ['Warning', warning] as const),
    ['Directory', agent.directory],
    ...agent.endpoints.map((endpoint) => [`MCP ${endpoint.server}`, endpointFacts(endpoint)] as const),
    ...(agent.others ?? []).map((server) => [`MCP ${server.name}`, serverState(server)] as const),
    ...causesOf(agent),
    ...(agent.sessionId === undefined ? [] : [['Session', agent.sessionId] as const]),
  ];
}

export function endpointLook(agent: AgentRow, endpoint: EndpointRow): RowLook {
  const { server, state, cause, nextStep, upstream } = endpoint;
  return {
    label: server,
    description: cause === '' ? state : `${state}: ${cause}`,
    icon: worstIcon(state),
    accessibleLabel: [`${server} of ${agent.name}`, state, cause, nextStep].filter((part) => part !== '').join(', '),
    contextValue: state === 'off' ? 'endpoint-off' : upstream === undefined ? 'endpoint-on' : 'endpoint-upstream',
  };
}

export function endpointTooltip(endpoint: EndpointRow): TooltipLines {
  const { server, cause, nextStep, client, upstream } = endpoint;
  return [
    ['MCP server', server],
    ['State', endpointFacts(endpoint)],
    ...(cause === '' ? [] : [['Cause', cause] as const]),
    ...(nextStep === '' ? [] : [['Next step', nextStep] as const]),
    ...(client === undefined ? [] : [['Client', client] as const]),
    ...(upstream === undefined ? [] : [['Last good call', goodCallText(upstream)] as const]),
  ];
}

/** When the server behind an endpoint last answered, and how long that took. */
export function goodCallText({ goodCall }: UpstreamRow): string {
  if (goodCall === undefined) return 'none yet';
  return `${new Date(goodCall.at).toLocaleTimeString()}, answered in ${Math.round(goodCall.roundTripMs)} ms`;
}

function causesOf(agent: AgentRow): TooltipLines {
  return agent.endpoints.flatMap(({ server, cause, nextStep }) =>
    cause === '' ? [] : [[server, `${cause} ${nextStep}`.trim()] as const],
  );
}

function endpointFacts({ state, roundTripMs }: EndpointRow): string {
  return state === 'bound' && roundTripMs !== undefined ? `bound, answered in ${Math.round(roundTripMs)} ms` : state;
}

function agentIcon(agent: AgentRow): RowIcon {
  if (isWaiting(agent)) return { id: 'bell-dot', ...attention };
  switch (agent.life) {
    case 'dead':
      return { id: 'error', ...alert };
    case 'blocked':
      return { id: 'warning', ...attention };
    case 'stopped':
      return { id: 'circle-slash', ...dim };
    case 'sleeping':
      return { id: 'debug-pause', ...dim };
    case 'launching':
    case 'stopping':
      return { id: 'loading~spin' };
    case 'healing':
      return { id: 'sync~spin', ...attention };
    case 'verifying':
    case 'ready':
      return activeIcon(agent);
  }
}

/** The form tells what it does, the colour whether it has its tools; where they are in doubt, that is the form. */
function activeIcon({ activity, worst }: AgentRow): RowIcon {
  const icon = worstIcon(worst);
  return activity === 'busy' && (worst === 'bound' || worst === 'not checkable') ? { ...icon, id: 'zap' } : icon;
}

function worstIcon(state: EndpointRow['state']): RowIcon {
  switch (state) {
    case 'unbound':
      return { id: 'debug-disconnect', ...alert };
    case 'gateway down':
      return { id: 'debug-disconnect', ...attention };
    case 'suspect':
      return { id: 'question', ...attention };
    case 'degraded':
      return { id: 'warning', ...attention };
    case 'pending':
      return { id: 'loading~spin' };
    case 'not checkable':
      return { id: 'circle-large-outline' };
    case 'bound':
      return { id: 'link', ...calm };
    case 'off':
      return { id: 'circle-slash', ...dim };
  }
}
