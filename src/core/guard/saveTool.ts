import { bindingHealth } from '../binding/health.ts';
import type { EndpointState } from '../fleet/select.ts';
import type { Agent } from '../fleet/agent.ts';
import type { Epoch } from '../fleet/state.ts';

/** Whether the agent can call save_my_context. What is only being checked is not given up: it is decided within a minute. */
const byEndpointState: Readonly<Record<EndpointState, 'reachable' | 'unreachable'>> = {
  bound: 'reachable',
  degraded: 'reachable',
  'not checkable': 'reachable',
  suspect: 'reachable',
  pending: 'reachable',
  unbound: 'unreachable',
  off: 'unreachable',
  'gateway down': 'unreachable',
};

/** Whether this agent can call save_my_context now. */
export function saveToolOf(agent: Agent, epoch: Epoch | undefined, now: number): 'reachable' | 'unreachable' {
  return saveTool(bindingHealth(agent, 'bowline-self', epoch, now).state);
}

/** `state`: of the agent's endpoint `bowline-self`; undefined: it has none. */
export function saveTool(state: EndpointState | undefined): 'reachable' | 'unreachable' {
  return state === undefined ? 'unreachable' : byEndpointState[state];
}
