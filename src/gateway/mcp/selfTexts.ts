import { bindingHealth } from '../../core/binding/health.ts';
import { select } from '../../core/fleet/select.ts';
import { type Agent, currentLaunch, enabledServers } from '../../core/fleet/agent.ts';
import type { FleetState } from '../../core/fleet/state.ts';
import { judgeRestart } from '../../core/guard/verdict.ts';
import type { SavedContextFile } from '../contexts.ts';
import type { Caller } from './endpointServer.ts';

/** What `whoami` tells: plain lines, one fact each. */
export function whoamiText(state: FleetState, caller: Caller, now: number): string {
  const agent = state.agents[caller.agent];
  if (agent === undefined) return `You are "${caller.agent}".`;
  const bindings = enabledServers(agent).map(
    (server) => `${server}: ${bindingHealth(agent, server, state.epoch, now).state}`,
  );
  const mode = currentLaunch(agent)?.mode;
  return [
    `You are the agent "${agent.name}" of Bowline.`,
    `Directory: ${agent.configuration.directory}`,
    `Launch: ${caller.launchId}${mode === undefined ? '' : ` (${mode})`}`,
    `Session: ${agent.session?.id ?? 'not known yet'}`,
    `MCP bindings: ${bindings.join(', ')}`,
    `Saved context: ${agent.savedContext === undefined ? 'none' : `${age(now - agent.savedContext.at)} ago`}`,
  ].join('\n');
}

/** What `list_agents` tells: one line for each agent. */
export function fleetText(state: FleetState, caller: Caller, now: number): string {
  const { agents } = select(state, { kind: 'connected' }, now);
  const lines = agents.map((row) => {
    const self = row.name === caller.agent ? ' (you)' : '';
    const life = row.detail === '' ? row.life : `${row.life} (${row.detail})`;
    return `${row.name}${self}: ${life}, ${row.activity}, tools ${row.worst}, in ${row.directory}`;
  });
  return [`${agents.length} ${agents.length === 1 ? 'agent' : 'agents'}:`, ...lines].join('\n');
}

/**
 * What `context_status` tells: the guard's verdict on a fresh restart right after this turn. The turn in which it is asked
 * would block every restart and says nothing.
 */
export function contextStatusText(agent: Agent | undefined, now: number): string {
  if (agent === undefined) return 'Unknown agent.';
  const { session } = agent;
  const afterTurn: Agent = {
    ...agent,
    activity: { ...agent.activity, kind: 'idle', lastWorkAt: now },
    ...(session !== undefined && {
      session: { ...session, prompted: true, turnsCompleted: session.turnsCompleted + 1 },
    }),
  };
  const verdict = judgeRestart(afterTurn, 'fresh', 'reachable', now);
  const saved =
    agent.savedContext === undefined
      ? 'Last save: none.'
      : `Last save: ${age(now - agent.savedContext.at)} ago, ${agent.savedContext.bytes} bytes` +
        `${verdict.context === 'stale' ? ', stale' : ''}.`;
  return [
    `Restart without this conversation, after this turn: ${verdict.allowed ? 'allowed' : 'blocked'} (${verdict.reason}).`,
    saved,
    `It would lose: ${verdict.wouldBeLost}`,
    ...(verdict.allowed ? [] : ['Next step: call save_my_context with what you need to go on.']),
  ].join('\n');
}

/** What `load_my_context` gives back: where it comes from, then the context itself. */
export function savedContextText(saved: SavedContextFile, agent: Agent | undefined, now: number): string {
  const session = agent?.session?.id;
  const origin = saved.sessionId === session ? 'this conversation' : 'an earlier conversation';
  return [
    `Saved ${age(now - saved.at)} ago (${new Date(saved.at).toISOString()}), from ${origin}.`,
    ...(saved.summary === undefined ? [] : [`Summary: ${saved.summary}`]),
    '',
    saved.context,
  ].join('\n');
}

/** A span in words, in the largest fitting unit. */
export function age(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}
