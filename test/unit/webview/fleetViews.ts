import { causeText } from '../../../src/core/binding/causes.ts';
import type { AgentRow, Blackout, EndpointRow, FleetView } from '../../../src/core/fleet/select.ts';
import type { UnboundCause } from '../../../src/core/binding/health.ts';

/** A time for all views: 2026-03-01 10:00:00 UTC. */
export const noon = Date.UTC(2026, 2, 1, 10);

export function endpoint(changed: Partial<EndpointRow> = {}): EndpointRow {
  return {
    server: 'bowline-self',
    state: 'bound',
    cause: '',
    nextStep: '',
    lastProofAt: noon - 3_000,
    roundTripMs: 3.6,
    client: 'claude-code 2.1.332',
    ...changed,
  };
}

/** An endpoint that lost its client by this cause, worded as the selector words it. */
export function unbound(cause: UnboundCause): EndpointRow {
  const { what, nextStep } = causeText(cause);
  return endpoint({ state: 'unbound', cause: what, nextStep, lastProofAt: noon - 95_000 });
}

export function agent(name: string, changed: Partial<AgentRow> = {}): AgentRow {
  const endpoints = changed.endpoints ?? [endpoint()];
  return {
    name,
    directory: `/home/person/work/${name}`,
    life: 'ready',
    detail: '',
    activity: 'idle',
    warnings: [],
    worst: endpoints[0]?.state ?? 'off',
    ...changed,
    endpoints,
  };
}

export function blackout(cause: UnboundCause, agents: readonly string[]): Blackout {
  const { what, nextStep } = causeText(cause);
  return { outage: cause, cause, what, nextStep, agents, needPerson: [] };
}

export function fleet(agents: readonly AgentRow[], changed: Partial<FleetView> = {}): FleetView {
  return {
    agents,
    status: { text: `${agents.length} bound`, detail: '', severity: 'calm' },
    blackouts: [],
    connection: { kind: 'connected' },
    timeline: [],
    ...changed,
  };
}
