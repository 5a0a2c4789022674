import { type Reduction, without } from './agentUpdate.ts';
import type { FleetEvent } from './events.ts';
import type { Agent } from './agent.ts';
import type { HealingAttempt, Incident } from '../healing/incident.ts';
import type { TimelineKind } from './state.ts';

type HealingEvent = Extract<FleetEvent, { kind: `incident ${string}` | `rung ${string}` }>;

const attemptsKept = 40;

/** Folds one step of healing. An incident stays open, with all its attempts, until the endpoint is bound again. */
export function reduceHealing(agent: Agent, event: HealingEvent): Reduction {
  const incident = agent.incidents[event.server];
  const line = (text: string, kind: TimelineKind = 'heal'): Pick<Reduction, 'timeline'> => ({
    timeline: [{ at: event.at, server: event.server, text, kind }],
  });
  const put = (next: Incident): Agent => ({ ...agent, incidents: { ...agent.incidents, [event.server]: next } });
  switch (event.kind) {
    case 'incident opened':
      if (incident !== undefined) return { agent };
      return {
        agent: put({
          since: event.at,
          cause: event.cause,
          attempts: [],
          ...(event.outage !== undefined && { outage: event.outage }),
        }),
        ...line(`unbound: ${event.cause}`, 'outage'),
      };
    case 'incident closed':
      if (incident === undefined) return { agent };
      return {
        agent: { ...agent, incidents: without(agent.incidents, event.server) },
        ...line(event.outcome === 'bound' ? 'bound again' : 'healing is over: there is nothing to bind'),
      };
    case 'incident ended':
      if (incident === undefined || incident.end?.reason === event.end.reason) return { agent };
      return { agent: put({ ...incident, end: { ...event.end, at: event.at } }), ...line(event.end.detail, 'outage') };
    case 'incident reopened':
      if (incident === undefined) return { agent };
      return {
        agent: put({ ...without(incident, 'end'), reopenedAt: event.at }),
        ...line('healing was asked for'),
      };
    case 'rung started': {
      const attempt: HealingAttempt = { id: event.attemptId, rung: event.rung, startedAt: event.at, by: event.by };
      const base: Incident = incident ?? { since: event.at, cause: 'asked', attempts: [] };
      if (base.attempts.some((known) => known.id === attempt.id)) return { agent };
      const attempts = [...base.attempts, attempt].slice(-attemptsKept);
      return { agent: put({ ...without(base, 'end'), attempts }), ...line(`${event.rung} started`) };
    }
    case 'rung acted':
    case 'rung ended': {
      const known = incident?.attempts.find((attempt) => attempt.id === event.attemptId);
      if (incident === undefined || known === undefined || known.endedAt !== undefined) return { agent };
      const next: HealingAttempt =
        event.kind === 'rung acted'
          ? { ...known, actedAt: event.at }
          : { ...known, endedAt: event.at, outcome: event.outcome, detail: event.detail };
      const attempts = incident.attempts.map((attempt) => (attempt === known ? next : attempt));
      return {
        agent: put({ ...incident, attempts }),
        ...(event.kind === 'rung ended' && line(`${known.rung} ${event.outcome}: ${event.detail}`)),
      };
    }
  }
}

/** Where healing has stopped it goes on: the launch that somebody asked for is judged by what it shows. */
export function withoutEnds(incidents: Agent['incidents']): Agent['incidents'] {
  return Object.fromEntries(Object.entries(incidents).map(([server, one]) => [server, without(one, 'end')]));
}
