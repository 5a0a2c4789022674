import type { UnboundCause } from '../binding/health.ts';
import type { Agent } from '../fleet/agent.ts';
import type { FleetState } from '../fleet/state.ts';

/**
 * Names the event that cost this endpoint its binding: endpoints with the same name are one outage. One run of the
 * gateway that was away, or one sleep of the host, takes many agents at once, and each of them may show another cause.
 */
export function outageOf(state: FleetState, agent: Agent, server: string, cause: UnboundCause): string {
  const { doubt } = agent.bindings[server] ?? {};
  if (doubt?.cause === 'host slept') return `host slept ${doubt.since}`;
  return cause === 'gateway was away' ? `gateway was away ${state.epoch?.id ?? ''}` : cause;
}
