import { causeText } from '../binding/causes.ts';
import { bindingHealth, type Health, isBound, type UnboundCause, updateState } from '../binding/health.ts';
import { bindingTimes } from '../binding/times.ts';
import { dialsAgainWhenCalled } from '../claude/version.ts';
import { outageOf } from '../healing/outage.ts';
import type { OwnServer } from '../mcp/ownServer.ts';
import { alarmsOf } from './alarms.ts';
import { isBuiltIn } from './builtInServers.ts';
import type { BlockedReason } from './life.ts';
import { needOf } from './need.ts';
import { lifeOf, type ShownLife } from './lifeOf.ts';
import { type ActivityKind, type Agent, enabledServers } from './agent.ts';
import type { BindingRecord, DoubtCause, UpdateCause } from '../binding/bindingRecord.ts';
import type { Epoch, FleetState, TimelineEntry } from './state.ts';

/**
 * How a window stands to the gateway. While it is away the last state is shown, marked as such. `refusedSince` is set
 * while the port is closed: only then do clients give up; where it is open they wait.
 */
export type Connection =
  | { readonly kind: 'connected' }
  | { readonly kind: 'away'; readonly since: number; readonly reason: string; readonly refusedSince?: number };

/** Everything the views show, derived in one place. */
export interface FleetView {
  readonly agents: readonly AgentRow[];
  readonly status: StatusText;
  /** Agents that lost their tools by one cause are one warning. */
  readonly blackouts: readonly Blackout[];
  readonly connection: Connection;
  readonly timeline: readonly TimelineEntry[];
}

export interface AgentRow {
  readonly name: string;
  readonly directory: string;
  readonly life: ShownLife;
  readonly detail: string;
  readonly activity: ActivityKind;
  readonly sessionId?: string;
  /** What is to be warned of, in sentences. */
  readonly warnings: readonly string[];
  /** The error by which each turn of its conversation fails; absent: it is not quarantined. */
  readonly poison?: string;
  /** Why it has no process and only a person goes on; absent: it is not so. */
  readonly blockedBy?: BlockedReason;
  readonly endpoints: readonly EndpointRow[];
  /** Its own MCP servers that are no endpoints, each with why; absent: there are none. */
  readonly others?: readonly Pick<OwnServer, 'name' | 'way' | 'reason'>[];
  /** The worst state of its endpoints: what the icon shows. */
  readonly worst: EndpointState;
}

export type EndpointState = Health['state'] | 'gateway down';

export interface EndpointRow {
  readonly server: string;
  readonly state: EndpointState;
  /** What is wrong, in one sentence; empty when nothing is. */
  readonly cause: string;
  readonly nextStep: string;
  readonly lastProofAt?: number;
  readonly roundTripMs?: number;
  readonly client?: string;
  /** Of the agent's own MCP server behind it; absent: it is one of Bowline's. */
  readonly upstream?: UpstreamRow;
}

export interface UpstreamRow {
  /** The last request that it answered, and after how many milliseconds; absent: it answered none yet. */
  readonly goodCall?: { readonly at: number; readonly roundTripMs: number };
  /** `verifying`: it is connected anew. `unverified`: it was to be, and has not answered yet. Absent: neither. */
  readonly update?: 'verifying' | 'unverified';
}

export interface StatusText {
  readonly text: string;
  readonly detail: string;
  readonly severity: 'calm' | 'neutral' | 'warning' | 'error';
}

export interface Blackout {
  /** The outage that it came by: its agents are one warning, whatever each of them shows. */
  readonly outage: string;
  /** What the first of its agents shows. */
  readonly cause: UnboundCause;
  readonly what: string;
  readonly nextStep: string;
  readonly agents: readonly string[];
  /** Those of them that Bowline does not heal any further by itself. */
  readonly needPerson: readonly string[];
}

/** A gateway that is away for longer is an error, not a hiccup. */
const awayIsError = 2_000;

/** Derives what a person sees at time `now`. */
export function select(state: FleetState, connection: Connection, now: number): FleetView {
  const seen = Object.values(state.agents).map((agent) => seeAgent(state, agent, connection, now));
  const blackouts = groupBlackouts(seen);
  const agents = seen.map(({ row }) => row);
  return {
    agents,
    status: statusText(state, agents, blackouts, connection, now),
    blackouts,
    connection,
    timeline: state.timeline,
  };
}

function othersOf({ ownServers = [] }: Agent): Pick<AgentRow, 'others'> {
  const others = ownServers.filter(({ way }) => way !== 'through Bowline');
  if (others.length === 0) return {};
  return { others: others.map(({ name, way, reason = '' }) => ({ name, way, reason })) };
}

interface SeenAgent {
  readonly row: AgentRow;
  readonly lost: readonly LostEndpoint[];
}

interface LostEndpoint {
  readonly cause: UnboundCause;
  readonly outage: string;
  readonly healing: 'goes on' | 'has ended';
}

function seeAgent(state: FleetState, agent: Agent, connection: Connection, now: number): SeenAgent {
  const healths = enabledServers(agent).map((server) => ({
    server,
    health: bindingHealth(agent, server, state.epoch, connection.kind === 'away' ? connection.since : now),
  }));
  const endpoints = healths.map(({ server, health }) => ({
    ...endpointRow(agent, server, health, connection, now),
    ...(!isBuiltIn(server) && { upstream: upstreamRow(agent.bindings[server], state.epoch, now) }),
  }));
  const { life, detail } = lifeOf(
    agent,
    healths.map(({ health }) => health),
    state.hands,
  );
  const lost = healths.flatMap(({ server, health }): readonly LostEndpoint[] => {
    const isLost = lostByAbsence(agent, server, health, connection, now);
    if (health.state !== 'unbound' && !isLost) return [];
    const cause = health.state === 'unbound' ? health.cause : 'gateway was away';
    const incident = agent.incidents[server];
    const outage = incident?.outage ?? outageOf(state, agent, server, cause);
    return [{ cause, outage, healing: incident?.end === undefined ? 'goes on' : 'has ended' }];
  });
  return {
    row: {
      name: agent.name,
      directory: agent.configuration.directory,
      life,
      detail,
      activity: agent.activity.kind,
      ...(agent.session !== undefined && { sessionId: agent.session.id }),
      ...(agent.session?.quarantine !== undefined && { poison: agent.session.quarantine.error }),
      ...(agent.life.kind === 'blocked' && { blockedBy: agent.life.reason }),
      warnings: alarmsOf(agent).map(({ sentence }) => sentence),
      endpoints,
      ...othersOf(agent),
      worst: worstOf(endpoints),
    },
    lost,
  };
}

/** Whether a client that was bound when the gateway went has given up by now: it is known without asking it. */
function lostByAbsence(agent: Agent, server: string, health: Health, connection: Connection, now: number): boolean {
  if (connection.kind !== 'away' || (!isBound(health) && health.state !== 'suspect')) return false;
  const client = agent.bindings[server]?.client;
  if (client?.name !== 'claude-code' || dialsAgainWhenCalled(client.version)) return false;
  return connection.refusedSince !== undefined && now - connection.refusedSince >= bindingTimes.givesUpAfter;
}

function endpointRow(agent: Agent, server: string, health: Health, connection: Connection, now: number): EndpointRow {
  const record = agent.bindings[server];
  const seen = {
    server,
    ...(record?.proof !== undefined && { lastProofAt: record.proof.at }),
    ...(record?.probe?.roundTripMs !== undefined && { roundTripMs: record.probe.roundTripMs }),
    ...(record?.client !== undefined && { client: `${record.client.name} ${record.client.version}` }),
  };
  if (connection.kind === 'away' && health.state !== 'off') {
    return {
      ...seen,
      state: 'gateway down',
      cause: lostByAbsence(agent, server, health, connection, now)
        ? `The gateway is away (${connection.reason}); its client has given up by now and its tools are gone.`
        : `The gateway is away: ${connection.reason}`,
      nextStep: 'Bowline starts the gateway again and then heals the agent. Show Log tells what keeps it.',
    };
  }
  return { ...seen, ...describe(health, server) };
}

function upstreamRow(record: BindingRecord | undefined, epoch: Epoch | undefined, now: number): UpstreamRow {
  if (record === undefined) return {};
  const update = epoch === undefined ? undefined : updateState(record, epoch, now);
  return {
    ...(record.goodCall !== undefined && { goodCall: record.goodCall }),
    ...(update !== undefined && { update }),
  };
}

const doubtTexts: Readonly<Record<DoubtCause, string>> = {
  'epoch changed': 'the gateway was restarted',
  'stream dropped': 'its connection is new or was dropped',
  'host slept': 'the machine slept',
  'probe late': 'a probe is late',
  asked: 'you asked for it',
};

const unverified: Readonly<Record<UpdateCause, string>> = {
  changed: 'has another definition than before, and has not answered since',
  asked: 'was to be reconnected, and has not answered since',
};

function describe(health: Health, server: string): Pick<EndpointRow, 'state' | 'cause' | 'nextStep'> {
  switch (health.state) {
    case 'unbound': {
      const { what, nextStep } = causeText(health.cause);
      return { state: 'unbound', cause: what, nextStep };
    }
    case 'degraded': {
      const { state, update } = health;
      const behind = `the server "${server}" behind it`;
      if ('until' in health) {
        const changed = health.update === 'changed' ? 'has another definition than before, and ' : '';
        return { state, cause: `It is bound; ${behind} ${changed}is being connected anew.`, nextStep: '' };
      }
      return {
        state,
        cause: `It is bound, but ${behind} ${update === undefined ? 'fails' : unverified[update]}: ${health.detail}`,
        nextStep:
          'Mend that server; the agent is left as it is, and this ends with the next call that works. Reconnect Upstream tries it now.',
      };
    }
    case 'suspect':
      return { state: 'suspect', cause: `Being checked: ${doubtTexts[health.cause]}.`, nextStep: '' };
    case 'not checkable':
      return {
        state: 'not checkable',
        cause: 'This version of Claude keeps no stream open after an outage; it dials again when a tool is called.',
        nextStep: 'Nothing to do: the next tool call binds it again. Reconnect MCP does so at once.',
      };
    case 'off':
    case 'pending':
    case 'bound':
      return { state: health.state, cause: '', nextStep: '' };
  }
}

const byGravity: readonly EndpointState[] = [
  'unbound',
  'gateway down',
  'suspect',
  'pending',
  'degraded',
  'not checkable',
  'bound',
  'off',
];

function worstOf(endpoints: readonly EndpointRow[]): EndpointState {
  return byGravity.find((state) => endpoints.some((endpoint) => endpoint.state === state)) ?? 'off';
}

function groupBlackouts(seen: readonly SeenAgent[]): readonly Blackout[] {
  const outages = new Map<string, Omit<Blackout, 'outage'>>();
  for (const { row, lost } of seen) {
    for (const { outage, cause, healing } of lost) {
      const { what, nextStep } = causeText(cause);
      const group = outages.get(outage) ?? { cause, what, nextStep, agents: [], needPerson: [] };
      const add = (names: readonly string[]): readonly string[] => [...new Set([...names, row.name])];
      const needPerson = healing === 'has ended' ? add(group.needPerson) : group.needPerson;
      outages.set(outage, { ...group, agents: add(group.agents), needPerson });
    }
  }
  return [...outages].map(([outage, group]) => ({ outage, ...group }));
}

function statusText(
  state: FleetState,
  agents: readonly AgentRow[],
  blackouts: readonly Blackout[],
  connection: Connection,
  now: number,
): StatusText {
  const names = [...new Set(blackouts.flatMap((blackout) => blackout.agents))];
  if (names.length > 0) {
    return {
      text: `${names.length} lost tools: ${shortList(names)}`,
      detail: blackouts.map((one) => `${one.agents.join(', ')}: ${one.what} ${one.nextStep}`).join('\n'),
      severity: 'error',
    };
  }
  if (connection.kind === 'away') {
    if (agents.length === 0) return { text: '', detail: 'No agents yet.', severity: 'calm' };
    const long = now - connection.since >= awayIsError;
    return {
      text: long ? 'gateway down' : 'reconnecting',
      detail: connection.reason,
      severity: long ? 'error' : 'neutral',
    };
  }
  const needs = agents.flatMap((agent) => {
    const need = needOf(agent);
    return need === undefined ? [] : [{ agent, need }];
  });
  const count = (wanted: EndpointState): number => agents.filter((agent) => agent.worst === wanted).length;
  const parts: string[] = [];
  if (count('bound') > 0) parts.push(`${count('bound')} bound`);
  if (count('degraded') > 0) parts.push(`${count('degraded')} degraded`);
  const starting = agents.filter((agent) => agent.worst === 'pending' && needOf(agent) === undefined).length;
  if (starting > 0) parts.push(`${starting} starting`);
  if (count('suspect') > 0) parts.push(`${count('suspect')} checking`);
  if (count('not checkable') > 0) parts.push(`${count('not checkable')} not checkable`);
  const sleeping = agents.filter(({ life }) => life === 'sleeping').length;
  if (sleeping > 0) parts.push(`${sleeping} sleeping`);
  if (needs.length > 0) {
    parts.push(
      `${needs.length} ${needs.length === 1 ? 'needs' : 'need'} you: ${shortList(needs.map(({ agent }) => agent.name))}`,
    );
  }
  const detail = needs.map(({ agent, need }) => `${agent.name}: ${need.detail}`).join('\n');
  const waiting = state.hands === undefined ? 'No window executes actions; they wait.' : '';
  return {
    text: parts.length === 0 ? '0 bound' : parts.join(', '),
    detail: [detail, waiting].filter((line) => line !== '').join('\n'),
    severity: needs.length > 0 ? 'warning' : count('suspect') + count('degraded') > 0 ? 'neutral' : 'calm',
  };
}

function shortList(names: readonly string[]): string {
  return `${names.slice(0, 3).join(', ')}${names.length > 3 ? ', ...' : ''}`;
}
