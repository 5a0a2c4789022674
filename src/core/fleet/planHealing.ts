import { type Health, isBound } from '../binding/health.ts';
import { reconnectLine } from '../claude/reconnectLine.ts';
import { activeAttempt, attemptDeadline, isRestart, nextMove, type StartedRung } from '../healing/ladder.ts';
import { outageOf } from '../healing/outage.ts';
import { putOffByPerson, situationOf } from '../healing/situation.ts';
import type { Effect } from './effects.ts';
import type { FleetEvent } from './events.ts';
import { nextLaunch } from './launching.ts';
import { type Agent, runningLaunch } from './agent.ts';
import type { FleetState } from './state.ts';
import type { HealingAttempt } from '../healing/incident.ts';

/** What healing calls for at one endpoint: an incident where it is unbound, and the attempt that is under way or due. */
export function planHealing(
  state: FleetState,
  agent: Agent,
  server: string,
  health: Health,
  now: number,
  wakes: number[],
): { readonly decisions: readonly FleetEvent[]; readonly effects: readonly Effect[] } {
  const incident = agent.incidents[server];
  const subject = { at: now, name: agent.name, server };
  const none = { decisions: [], effects: [] };
  const attempt = activeAttempt(incident);
  if (attempt !== undefined) return underWay(agent, server, health, attempt, now, wakes);
  const putOff = incident === undefined ? undefined : putOffByPerson(agent, incident, now);
  switch (putOff?.kind) {
    case undefined:
      break;
    case 'wait':
      wakes.push(putOff.until);
      return none;
    case 'again':
      return {
        decisions: [rungStarted(agent, server, 'reconnect', 'person', now)],
        effects: [],
      };
    case 'too long': {
      const why = `${putOff.detail}. Attach to ${agent.name} and look, then use Reconnect MCP again.`;
      const sentence = `${agent.name} was not reconnected to ${server}: ${why}`;
      return {
        decisions: [notice(now, agent, sentence), { ...subject, kind: 'incident closed', outcome: 'over' }],
        effects: [],
      };
    }
  }
  if (health.state === 'unbound') {
    if (incident === undefined) {
      const outage = outageOf(state, agent, server, health.cause);
      return { decisions: [{ ...subject, kind: 'incident opened', cause: health.cause, outage }], effects: [] };
    }
    const move = nextMove(situationOf(state, agent, server, incident, health.cause, now), now);
    switch (move.kind) {
      case 'wait':
        if (move.until !== undefined) wakes.push(move.until);
        return none;
      case 'end':
        return { decisions: [{ ...subject, kind: 'incident ended', end: move.end }], effects: [] };
      case 'rung':
        return { decisions: startRung(agent, server, move.rung, now), effects: [] };
    }
  }
  if (incident === undefined) return none;
  if (isBound(health)) {
    return { decisions: [{ ...subject, kind: 'incident closed', outcome: 'bound' }], effects: [] };
  }
  // What ended by itself while it was healed is not over: a restart that did not help stays counted.
  const isOver = health.state === 'off' && agent.life.kind !== 'blocked' && agent.life.kind !== 'dead';
  return isOver ? { decisions: [{ ...subject, kind: 'incident closed', outcome: 'over' }], effects: [] } : none;
}

/** A restart is a try for each endpoint of the agent that is being healed. Where nothing can be resumed it is a fresh one. */
function startRung(agent: Agent, server: string, rung: StartedRung, now: number): readonly FleetEvent[] {
  if (rung !== 'resume' && rung !== 'fresh') return [rungStarted(agent, server, rung, 'policy', now)];
  const servers = Object.entries(agent.incidents).flatMap(([name, { end }]) => (end === undefined ? [name] : []));
  const launch = nextLaunch(agent, rung, now);
  return [
    ...[...new Set([server, ...servers])].map((one) => rungStarted(agent, one, launch.mode, 'policy', now)),
    { at: now, kind: 'launch requested', name: agent.name, launch: { ...launch, cause: 'healing' } },
  ];
}

function rungStarted(
  { name, launchCount, incidents }: Agent,
  server: string,
  rung: StartedRung,
  by: HealingAttempt['by'],
  now: number,
): FleetEvent {
  const tries = incidents[server]?.attempts.length ?? 0;
  // Also unlike those of an earlier incident: hands that find this id on a pane take its line for typed.
  const attemptId = `${name}-${launchCount}-${server}-${tries + 1}-${now.toString(36)}`;
  return { at: now, kind: 'rung started', name, server, attemptId, rung, by };
}

function notice(at: number, { name }: Agent, sentence: string): FleetEvent {
  return { at, kind: 'noticed', notice: { at, code: 'not-reconnected', sentence, severity: 'error', agent: name } };
}

/** A rung that is under way ends verified, failed, or called off because its process is gone. */
function underWay(
  agent: Agent,
  server: string,
  health: Health,
  attempt: HealingAttempt,
  now: number,
  wakes: number[],
): { readonly decisions: readonly FleetEvent[]; readonly effects: readonly Effect[] } {
  const end = (outcome: 'verified' | 'failed' | 'put off', detail: string): FleetEvent => ({
    at: now,
    kind: 'rung ended',
    name: agent.name,
    server,
    attemptId: attempt.id,
    outcome,
    detail,
  });
  const running = runningLaunch(agent);
  const initializedAt = agent.bindings[server]?.initializedAt ?? 0;
  // A client that is nudged may come back under the session that it has.
  const answeredAt = agent.bindings[server]?.probe?.answeredAt ?? 0;
  const provenAt = attempt.rung === 'nudge' ? answeredAt : initializedAt;
  if ((health.state === 'bound' || health.state === 'degraded') && provenAt >= attempt.startedAt) {
    return { decisions: [end('verified', 'bound, proven by a probe')], effects: [] };
  }
  if (!isRestart(attempt) && running === undefined) {
    return { decisions: [end('put off', 'the agent is not running')], effects: [] };
  }
  if (isRestart(attempt)) {
    const verdict = restartFailure(agent, health, attempt);
    if (verdict !== undefined) return { decisions: [end(verdict.outcome, verdict.detail)], effects: [] };
  }
  const deadline = attemptDeadline(attempt);
  if (now >= deadline) {
    const isPutOff = attempt.rung === 'reconnect' && attempt.actedAt === undefined;
    if (isPutOff) return { decisions: [end('put off', 'nothing was typed in time')], effects: [] };
    // Where the endpoint is unbound healing goes on; else this is all that a person would ever hear.
    const isEnd = attempt.by === 'person' && health.state !== 'unbound';
    const sentence = `${agent.name} did not connect to ${server} anew after "/mcp reconnect". Attach to ${agent.name} and look at /mcp.`;
    const failed = end('failed', 'not bound in time');
    return { decisions: isEnd ? [failed, notice(now, agent, sentence)] : [failed], effects: [] };
  }
  wakes.push(deadline);
  if (isRestart(attempt) || attempt.actedAt !== undefined || running === undefined) {
    return { decisions: [], effects: [] };
  }
  const subject = { name: agent.name, launchId: running.launch.id, server, attemptId: attempt.id };
  const effect: Effect =
    attempt.rung === 'nudge'
      ? { ...subject, kind: 'nudge', id: `nudge:${attempt.id}` }
      : { ...subject, kind: 'type', id: `type:${attempt.id}`, text: reconnectLine(server) };
  return { decisions: [], effects: [effect] };
}

/** Why a restart has not helped; undefined: it still may. */
function restartFailure(
  agent: Agent,
  health: Health,
  attempt: HealingAttempt,
): { readonly outcome: 'failed' | 'put off'; readonly detail: string } | undefined {
  if (agent.life.kind === 'launching') return undefined;
  const running = runningLaunch(agent);
  if (running === undefined) return { outcome: 'failed', detail: 'the process did not stay' };
  if (running.launch.requestedAt < attempt.startedAt) {
    const last = agent.launches.at(-1);
    const outcome = last?.refused === undefined ? 'failed' : 'put off';
    return { outcome, detail: last?.detail ?? 'it could not be restarted' };
  }
  const hasSpoken = running.confirmedAt !== undefined || running.unverified !== undefined;
  if (health.state !== 'unbound' || !(hasSpoken || running.dialog !== undefined)) return undefined;
  return { outcome: 'failed', detail: 'the new process is unbound' };
}
