import type { EndpointState } from '../fleet/select.ts';

/** Whether the agent can call save_my_context. What is only being checked is not given up: it is decided within a minute. */
const byEndpointState: Readonly<Record<EndpointState, 'reachable' | 'unreachable'>> = {
  bound: 'reachable',
  'not checkable': 'reachable',
  suspect: 'reachable',
  pending: 'reachable',
  unbound: 'unreachable',
  off: 'unreachable',
  'gateway down': 'unreachable',
};

/** `state`: of the agent's endpoint `bowline-self`; undefined: it has none. */
export function saveTool(state: EndpointState | undefined): 'reachable' | 'unreachable' {
  return state === undefined ? 'unreachable' : byEndpointState[state];
}
