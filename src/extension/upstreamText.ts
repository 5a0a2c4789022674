import type { EndpointRow } from '../core/fleet/select.ts';

/** What came of reconnecting the server behind an endpoint, in a sentence. `endpoint` undefined: it is gone. */
export function reconnectResult(
  agent: string,
  server: string,
  endpoint: EndpointRow | undefined,
): { readonly severity: 'info' | 'warning'; readonly sentence: string } {
  const whose = `${server} of ${agent}`;
  if (endpoint?.upstream === undefined || endpoint.state === 'off') {
    return { severity: 'warning', sentence: `${whose} was not reconnected: the agent has no such server any more.` };
  }
  const { upstream, cause, nextStep } = endpoint;
  if (upstream.update === undefined) {
    const time = upstream.goodCall === undefined ? '' : ` in ${Math.round(upstream.goodCall.roundTripMs)} ms`;
    return { severity: 'info', sentence: `${whose} is reconnected: it answered${time}.` };
  }
  const why = cause === '' ? `Its endpoint is ${endpoint.state}.` : cause;
  return { severity: 'warning', sentence: `${whose} does not answer. ${why} ${nextStep}`.trim() };
}
