import { updateAgent, withTimeline } from './agentUpdate.ts';
import { alarmsOf } from './alarms.ts';
import { audited } from './audit.ts';
import { withoutFuture } from './clockSetBack.ts';
import type { FleetEvent } from './events.ts';
import { adopted, adoptionEnded } from './reduceAdoption.ts';
import { reduceAlarms } from './reduceAlarms.ts';
import { reduceBinding } from './reduceBinding.ts';
import { configured, underSettings } from './reduceConfiguration.ts';
import { reduceHealing } from './reduceHealing.ts';
import { ownServersRead, serverApproved, serverWantsLogin, serverWithdrawn } from './reduceOwnServers.ts';
import { reduceLife } from './reduceLife.ts';
import { restoreEnded, restoreRequested } from './reduceRestore.ts';
import { reduceScreen } from './reduceScreen.ts';
import { receivePrompt, reducePrompts } from './reducePrompts.ts';
import type { Agent } from './agent.ts';
import type { Launch } from './life.ts';
import { emptyFleet, type Epoch, type FleetState, type Notice, agentOf } from './state.ts';
import type { FleetSettings } from './configuration.ts';

/** How many records of each bounded list are kept. */
const kept = { notices: 50 } as const;

/**
 * Folds one fact into the state. Never throws, never asks the time, never does I/O. A fact that does not fit (unknown
 * agent, ended launch, older report) returns the same object.
 */
export function reduce(state: FleetState, event: FleetEvent): FleetState {
  if (event.kind === 'agent created' && event.launch !== undefined) return createAndLaunch(state, event, event.launch);
  return audited(state, fold(state, event), event);
}

function fold(state: FleetState, event: FleetEvent): FleetState {
  switch (event.kind) {
    case 'epoch started':
      return withTimeline({ ...state, epoch: event.epoch }, [
        { at: event.at, kind: 'epoch', text: epochText(event.epoch) },
      ]);
    case 'host resumed':
      // Before, so that what is asked now counts as later than everything that was seen.
      return doubtAll(withoutFuture(state, event.at - 1), event.at);
    case 'settings changed':
      return settingsChanged(state, event.settings, event.at);
    case 'hands changed': {
      const { hands: _former, ...rest } = state;
      return event.holder === undefined ? rest : { ...rest, hands: { holder: event.holder, since: event.at } };
    }
    case 'noticed':
      return withNotice(state, event.notice);
    case 'guard bypassed':
    case 'difference found':
      return state; // it stands in the audit alone
    case 'reconcile requested':
      return { ...state, reconciliation: { askedAt: event.at } };
    case 'reconciled': {
      const { at, askedAt, differences, problem } = event;
      if (state.reconciliation?.askedAt !== askedAt || state.reconciliation.done !== undefined) return state;
      const done = { at, differences, ...(problem !== undefined && { problem }) };
      return { ...state, reconciliation: { askedAt, done } };
    }
    case 'restore requested':
      return restoreRequested(state, event);
    case 'restore ended':
      return restoreEnded(state, event);
    case 'agent created':
      return createAgent(state, event);
    case 'adoption ended':
      return updateAgent(state, event.name, (agent) => adoptionEnded(agent, event));
    case 'agent configured':
      return updateAgent(state, event.name, (agent) => ({
        agent: configured(agent, event.configuration, state.settings, event.at),
        timeline: [{ at: event.at, text: 'configuration changed' }],
      }));
    case 'agent removed':
      return removeAgent(state, event.name);
    case 'own servers read':
      return updateAgent(state, event.name, (agent) => ({ agent: ownServersRead(agent, event, state.settings) }));
    case 'server approved':
      return serverApproved(state, event);
    case 'server approval withdrawn':
      return serverWithdrawn(state, event.digest);
    case 'server wants login':
      return serverWantsLogin(state, event.digest);
    case 'context saved':
      return updateAgent(state, event.name, (agent) => ({ agent: { ...agent, savedContext: event.context } }));
    case 'identity fault':
      return identityFault(state, event);
    case 'launch failed':
      return launchFailed(state, event);
    case 'process ended':
      return processEnded(state, event);
    case 'launch requested':
    case 'stop requested':
    case 'launched':
    case 'launch waits':
    case 'sleep put off':
    case 'screen read':
    case 'activity observed':
    case 'launch verified':
    case 'launch unverified':
    case 'resume failed':
      return updateAgent(state, event.name, (agent) => reduceLife(agent, event));
    case 'hook reported': {
      const { name, launchId, hook, at } = event;
      // Also of a launch that has ended: that a prompt was received stays true.
      const received = updateAgent(state, name, (agent) => receivePrompt(agent, launchId, hook, at));
      const next = updateAgent(received, name, (agent) => reduceLife(agent, event));
      return withAlarms(state, next, name, at);
    }
    case 'conversation released':
    case 'conversation found':
    case 'hooks checked':
    case 'transcript seen':
    case 'conversation shared':
    case 'launch doubled':
    case 'program changed': {
      const next = updateAgent(state, event.name, (agent) => reduceAlarms(agent, event));
      return withAlarms(state, next, event.name, event.at);
    }
    case 'prompt requested':
    case 'prompt taken':
    case 'prompt waits':
    case 'prompt typed':
    case 'prompt ended':
    case 'save restart requested':
    case 'save restart ended':
      return updateAgent(state, event.name, (agent) => reducePrompts(agent, event));
    case 'look requested':
    case 'screen looked at':
    case 'interrupt requested':
    case 'interrupt pressed':
    case 'interrupt ended':
      return updateAgent(state, event.name, (agent) => reduceScreen(agent, event));
    case 'doubted':
    case 'mcp initialized':
    case 'mcp tools listed':
    case 'mcp proof seen':
    case 'mcp stream opened':
    case 'mcp stream closed':
    case 'upstream failed':
    case 'upstream answered':
    case 'upstream detached':
    case 'probe answered':
    case 'probe failed': {
      const epoch = state.epoch?.id;
      if (epoch === undefined) return state;
      return updateAgent(state, event.name, (agent) => reduceBinding(agent, event, epoch));
    }
    case 'incident opened':
    case 'incident reopened':
    case 'incident closed':
    case 'incident ended':
    case 'rung started':
    case 'rung acted':
    case 'rung ended':
      return updateAgent(state, event.name, (agent) => reduceHealing(agent, event));
  }
}

/** Folds many facts, oldest first. */
export function reduceAll(events: readonly FleetEvent[], state: FleetState = emptyFleet): FleetState {
  return events.reduce(reduce, state);
}

/** As if it were two facts, but for that no kill can come between them. */
function createAndLaunch(
  state: FleetState,
  { launch: _asked, ...created }: Extract<FleetEvent, { kind: 'agent created' }>,
  launch: Launch,
): FleetState {
  const next = reduce(state, created);
  if (next === state) return state;
  const { at, asker, name } = created;
  return reduce(next, { at, ...(asker !== undefined && { asker }), kind: 'launch requested', name, launch });
}

function createAgent(state: FleetState, event: Extract<FleetEvent, { kind: 'agent created' }>): FleetState {
  if (state.agents[event.name] !== undefined) return state;
  const agent: Agent = {
    name: event.name,
    configuration: event.configuration,
    createdAt: event.at,
    life: { kind: 'stopped', at: event.at },
    activity: { kind: 'unknown', since: event.at, source: 'none' },
    lineage: [],
    ...adopted(event),
    launches: [],
    launchCount: 0,
    bindings: {},
    incidents: {},
  };
  return { ...state, agents: { ...state.agents, [event.name]: agent } };
}

/** What runs keeps the variables that it was started with, and that is said. */
function settingsChanged(state: FleetState, settings: FleetSettings, at: number): FleetState {
  const agents = Object.values(state.agents).map((agent) => underSettings(agent, state.settings, settings, at));
  const isSame = agents.every((agent) => agent === state.agents[agent.name]);
  return {
    ...state,
    settings,
    ...(!isSame && { agents: Object.fromEntries(agents.map((agent) => [agent.name, agent])) }),
  };
}

/** A restart that could not start leaves the agent as it was, so that nothing but a notice shows it. */
function launchFailed(state: FleetState, event: Extract<FleetEvent, { kind: 'launch failed' }>): FleetState {
  const next = updateAgent(state, event.name, (agent) => reduceLife(agent, event));
  const after = next.agents[event.name];
  if (next === state || after?.life.kind !== 'running') return next;
  const last = after.launches.at(-1);
  // Healing tries again by itself.
  if (last?.refused !== undefined && last.launch.cause === 'healing') return next;
  const sentence = `${event.name} was not restarted and goes on as before: ${event.sentence}`;
  return withNotice(next, { at: event.at, code: event.code, sentence, severity: 'error' });
}

/** All agents that the tmux server took with it are one notice. */
function processEnded(state: FleetState, event: Extract<FleetEvent, { kind: 'process ended' }>): FleetState {
  const next = updateAgent(state, event.name, (agent) => reduceLife(agent, event));
  if (next === state || event.exit.how !== 'host gone') return next;
  const code = 'host-gone';
  if (next.notices.some((notice) => notice.code === code && notice.at === event.at)) return next;
  const sentence =
    'The tmux server ended, and all agents with it. Nothing is lost: Restore All brings them back with their conversations.';
  return withNotice(next, { at: event.at, code, sentence, severity: 'error' });
}

/** Each alarm is noticed once. */
function withAlarms(before: FleetState, state: FleetState, name: string, at: number): FleetState {
  const of = (one: FleetState): ReturnType<typeof alarmsOf> => {
    const agent = agentOf(one, name);
    return agent === undefined ? [] : alarmsOf(agent);
  };
  const known = new Set(of(before).map(({ code }) => code));
  return of(state)
    .filter(({ code }) => !known.has(code))
    .reduce((next, alarm) => withNotice(next, { at, agent: name, ...alarm }), state);
}

function withNotice(state: FleetState, notice: Notice): FleetState {
  return { ...state, notices: append(state.notices, notice, kept.notices) };
}

/** Only an agent without a process can be removed; a running one is stopped first (`stop requested`, then `remove`). */
function removeAgent(state: FleetState, name: string): FleetState {
  const agent = agentOf(state, name);
  if (agent === undefined) return state;
  if (agent.life.kind === 'running' || agent.life.kind === 'stopping' || agent.life.kind === 'launching') return state;
  const { [name]: _removed, ...agents } = state.agents;
  return { ...state, agents };
}

function epochText({ port, previousSeenAt }: Epoch): string {
  if (previousSeenAt === undefined) return 'the gateway started';
  return port === 'kept open'
    ? 'the gateway was restarted; its port stayed open'
    : 'the gateway was restarted; its port was closed meanwhile';
}

/** Of all endpoints one line is told: a line of each would push all else out of the timeline. */
function doubtAll(state: FleetState, at: number): FleetState {
  const epoch = state.epoch?.id;
  if (epoch === undefined) return state;
  let next = state;
  for (const { name, bindings } of Object.values(state.agents)) {
    for (const server of Object.keys(bindings)) {
      const doubt = { at, kind: 'doubted', name, server, cause: 'host slept' } as const;
      next = updateAgent(next, name, (agent) => ({ agent: reduceBinding(agent, doubt, epoch).agent }));
    }
  }
  if (next === state) return state;
  const text = 'the machine slept, or its clock was set; every binding is proven again';
  return withTimeline(next, [{ at, kind: 'epoch', text }]);
}

/** A fault that names an agent unbinds that endpoint at once; one that names nobody is shown for the fleet. */
function identityFault(state: FleetState, event: Extract<FleetEvent, { kind: 'identity fault' }>): FleetState {
  const epoch = state.epoch?.id;
  const agent = event.name === undefined ? undefined : agentOf(state, event.name);
  if (agent !== undefined && event.server !== undefined && epoch !== undefined) {
    const server = event.server;
    return updateAgent(state, agent.name, () => reduceBinding(agent, { ...event, name: agent.name, server }, epoch));
  }
  const latest = state.notices.at(-1);
  if (latest?.code === event.cause && latest.sentence === event.detail) return state;
  const notice = { at: event.at, code: event.cause, sentence: event.detail, severity: 'warning' } as const;
  return { ...state, notices: append(state.notices, notice, kept.notices) };
}

function append<T>(list: readonly T[], item: T, limit: number): readonly T[] {
  return [...list, item].slice(-limit);
}
