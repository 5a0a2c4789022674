import { bindingHealth, type Health } from '../binding/health.ts';
import { bindingTimes } from '../binding/times.ts';
import { activeAttempt, attemptDeadline, nextMove, putOffByPerson } from '../healing/ladder.ts';
import type { Effect } from './effects.ts';
import type { FleetEvent } from './events.ts';
import { resumeOrFresh } from './launching.ts';
import { planPrompts } from './planPrompts.ts';
import { planSaveRestart } from './planSaveRestart.ts';
import { type Agent, enabledServers, type FleetState, type HealingAttempt, runningLaunch } from './state.ts';

/**
 * What the state calls for now. `decisions` are facts for `reduce` (fold them, then plan again); `effects` are to be in
 * progress as long as they are planned; `wakeAt` is the next time at which the answer can change by itself.
 */
export interface Plan {
  readonly decisions: readonly FleetEvent[];
  readonly effects: readonly Effect[];
  readonly wakeAt?: number;
}

/** Derives the plan. Pure: the same state and time give the same plan, with the same effect ids. */
export function plan(state: FleetState, now: number): Plan {
  const decisions: FleetEvent[] = [];
  const effects: Effect[] = [];
  const wakes: number[] = [];
  for (const agent of Object.values(state.agents)) {
    effects.push(...lifeEffects(agent));
    const healths: Health[] = [];
    for (const server of enabledServers(agent)) {
      const health = bindingHealth(agent, server, state.epoch, now);
      healths.push(health);
      if ('until' in health) wakes.push(health.until);
      effects.push(...probeEffects(state, agent, server, now, wakes));
      const healing = heal(state, agent, server, health, now, wakes);
      decisions.push(...healing.decisions);
      effects.push(...healing.effects);
      // One restart at a time: the limits of the fleet are judged anew once it is folded in.
      if (healing.decisions.some(({ kind }) => kind === 'launch requested')) return { decisions, effects };
    }
    const prompts = planPrompts(agent, healths, now);
    const saveRestart = planSaveRestart(agent, state.epoch, now);
    decisions.push(...prompts.decisions, ...saveRestart.decisions);
    effects.push(...prompts.effects);
    for (const { wakeAt } of [prompts, saveRestart]) if (wakeAt !== undefined) wakes.push(wakeAt);
    if (saveRestart.decisions.some(({ kind }) => kind === 'launch requested')) return { decisions, effects };
  }
  const future = wakes.filter((at) => at > now);
  return { decisions, effects, ...(future.length > 0 && { wakeAt: Math.min(...future) }) };
}

function lifeEffects(agent: Agent): readonly Effect[] {
  const { life, name } = agent;
  switch (life.kind) {
    case 'launching':
      return [{ kind: 'launch', id: `launch:${life.launch.id}`, name, launch: life.launch }];
    case 'stopping':
      return [{ kind: 'end', id: `end:${life.launch.id}`, name, launchId: life.launch.id }];
    case 'running':
    case 'stopped':
    case 'blocked':
    case 'dead':
      return [];
  }
}

/** A probe is due when a stream was never probed in this epoch, when there is doubt, after a failure, and every 30 s. */
function probeEffects(
  state: FleetState,
  agent: Agent,
  server: string,
  now: number,
  wakes: number[],
): readonly Effect[] {
  const running = runningLaunch(agent);
  const record = agent.bindings[server];
  const epoch = state.epoch?.id;
  if (running === undefined || epoch === undefined || record?.launchId !== running.launch.id) return [];
  if (record.stream.kind !== 'open' || record.stream.epoch !== epoch) return [];
  const probe = record.probe?.epoch === epoch ? record.probe : undefined;
  const effect = (id: string): Effect => ({
    kind: 'probe',
    id,
    name: agent.name,
    server,
    launchId: running.launch.id,
  });
  const unique = `probe:${running.launch.id}:${server}:${epoch}`;
  if (probe === undefined) return [effect(`${unique}:first`)];
  // While a probe is under way it stays planned under its own id.
  if (probe.outcome === 'waiting') return [effect(probe.id)];
  const next = `${unique}:${probe.sentAt}`;
  const inQuestionSince = Math.max(record.stream.since, record.doubt?.since ?? 0);
  if (probe.sentAt < inQuestionSince) {
    if (now >= inQuestionSince) return [effect(next)];
    // The clock was set back a little: any number of probes would come before that time.
    wakes.push(inQuestionSince);
    return [];
  }
  if (probe.outcome === 'failed' && probe.failures < bindingTimes.probeFailures) return [effect(next)];
  const { probeEvery, probeMarks } = bindingTimes;
  const dueAt = Math.floor((probe.sentAt + probeEvery) / probeMarks) * probeMarks;
  if (now >= dueAt) return [effect(next)];
  wakes.push(dueAt);
  return [];
}

function heal(
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
      return { decisions: [notice(now, agent, sentence), { ...subject, kind: 'incident closed' }], effects: [] };
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
      case 'ask':
        return { decisions: [{ ...subject, kind: 'incident asked', detail: move.detail }], effects: [] };
      case 'give up':
        return { decisions: [{ ...subject, kind: 'incident asked', detail: move.detail }], effects: [] };
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
  const over =
    incident !== undefined && (health.state === 'bound' || health.state === 'not checkable' || health.state === 'off');
  return over ? { decisions: [{ ...subject, kind: 'incident closed' }], effects: [] } : none;
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
