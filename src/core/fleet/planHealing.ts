import type { Health } from '../binding/health.ts';
import { activeAttempt, attemptDeadline, nextMove, putOffByPerson } from '../healing/ladder.ts';
import type { Effect } from './effects.ts';
import type { FleetEvent } from './events.ts';
import { resumeOrFresh } from './launching.ts';
import { type Agent, type FleetState, type HealingAttempt, runningLaunch } from './state.ts';

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
  const newAttempt = (): string =>
    `${agent.name}-${agent.launchCount}-${server}-${(incident?.attempts.length ?? 0) + 1}-${incident?.since ?? now}`;
  const putOff = incident === undefined ? undefined : putOffByPerson(agent, incident, now);
  switch (putOff?.kind) {
    case undefined:
      break;
    case 'wait':
      wakes.push(putOff.until);
      return none;
    case 'again':
      return {
        decisions: [{ ...subject, kind: 'rung started', attemptId: newAttempt(), rung: 'reconnect', by: 'person' }],
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
      return { decisions: [{ ...subject, kind: 'incident opened', cause: health.cause }], effects: [] };
    }
    const move = nextMove(state, agent, incident, health.cause, now);
    switch (move.kind) {
      case 'wait':
        if (move.until !== undefined) wakes.push(move.until);
        return none;
      case 'end':
        return { decisions: [{ ...subject, kind: 'incident ended', end: move.end }], effects: [] };
      case 'reconnect':
        return {
          decisions: [{ ...subject, kind: 'rung started', attemptId: newAttempt(), rung: 'reconnect', by: 'policy' }],
          effects: [],
        };
      case 'resume':
        return {
          decisions: [
            { ...subject, kind: 'rung started', attemptId: newAttempt(), rung: 'resume', by: 'policy' },
            {
              at: now,
              kind: 'launch requested',
              name: agent.name,
              launch: { ...resumeOrFresh(agent, now), cause: 'healing' },
            },
          ],
          effects: [],
        };
    }
  }
  if (incident === undefined) return none;
  if (health.state === 'bound' || health.state === 'not checkable') {
    return { decisions: [{ ...subject, kind: 'incident closed', outcome: 'bound' }], effects: [] };
  }
  return health.state === 'off'
    ? { decisions: [{ ...subject, kind: 'incident closed', outcome: 'over' }], effects: [] }
    : none;
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
  if (health.state === 'bound' && initializedAt >= attempt.startedAt) {
    return { decisions: [end('verified', 'bound, proven by a probe')], effects: [] };
  }
  if (attempt.rung === 'reconnect' && running === undefined) {
    return { decisions: [end('put off', 'the agent is not running')], effects: [] };
  }
  if (attempt.rung === 'resume' && agent.life.kind !== 'launching' && running === undefined) {
    return { decisions: [end('failed', 'the process did not stay')], effects: [] };
  }
  const deadline = attemptDeadline(attempt);
  if (now >= deadline) {
    const typed = attempt.actedAt !== undefined || attempt.rung === 'resume';
    if (!typed) return { decisions: [end('put off', 'nothing was typed in time')], effects: [] };
    // Where the endpoint is unbound healing goes on; else this is all that a person would ever hear.
    const isEnd = attempt.by === 'person' && health.state !== 'unbound';
    const sentence = `${agent.name} did not connect to ${server} anew after "/mcp reconnect". Attach to ${agent.name} and look at /mcp.`;
    const failed = end('failed', 'not bound in time');
    return { decisions: isEnd ? [failed, notice(now, agent, sentence)] : [failed], effects: [] };
  }
  wakes.push(deadline);
  if (attempt.rung !== 'reconnect' || attempt.actedAt !== undefined || running === undefined) {
    return { decisions: [], effects: [] };
  }
  return {
    decisions: [],
    effects: [
      {
        kind: 'type',
        id: `type:${attempt.id}`,
        name: agent.name,
        launchId: running.launch.id,
        server,
        attemptId: attempt.id,
        text: `/mcp reconnect ${server}`,
      },
    ],
  };
}
