import { deepStrictEqual } from 'node:assert/strict';
import { endpointLook, endpointTooltip } from '../../../src/extension/agentRows.ts';
import type { AgentRow, EndpointRow } from '../../../src/core/fleet/select.ts';
import { reconnectResult } from '../../../src/extension/upstreamText.ts';

const at = Date.UTC(2026, 0, 2, 3, 4, 5);
const bound: EndpointRow = { server: 'lab', state: 'bound', cause: '', nextStep: '', upstream: {} };
const good: EndpointRow = { ...bound, upstream: { goodCall: { at, roundTripMs: 34.6 } } };
const failing: EndpointRow = {
  ...{ server: 'lab', state: 'degraded', cause: 'It is bound, but fails.', nextStep: 'Mend it.' },
  upstream: { update: 'unverified' },
};

describe('the server behind an endpoint, in words', () => {
  it('is reconnected, or is not, and why', () => {
    const results = [good, bound, failing, { ...bound, state: 'unbound', upstream: { update: 'unverified' } } as const];
    deepStrictEqual(
      [...results, { ...good, state: 'off' } as const, undefined].map((endpoint) => {
        const { severity, sentence } = reconnectResult('ada', 'lab', endpoint);
        return `${severity}: ${sentence}`;
      }),
      [
        'info: lab of ada is reconnected: it answered in 35 ms.',
        'info: lab of ada is reconnected: it answered.',
        'warning: lab of ada does not answer. It is bound, but fails. Mend it.',
        'warning: lab of ada does not answer. Its endpoint is unbound.',
        'warning: lab of ada was not reconnected: the agent has no such server any more.',
        'warning: lab of ada was not reconnected: the agent has no such server any more.',
      ],
    );
  });

  it('shows its last good call on the hover, and nothing on the row that changes while all is well', () => {
    const agent: AgentRow = {
      ...{ name: 'ada', directory: '/work', life: 'ready', detail: '', activity: 'idle', warnings: [] },
      ...{ endpoints: [good], worst: 'bound' },
    };
    const { upstream: _none, ...builtIn } = bound;
    deepStrictEqual(
      {
        hover: [good, bound, builtIn].map((endpoint) => endpointTooltip(endpoint).slice(2)),
        same: JSON.stringify(endpointLook(agent, good)) === JSON.stringify(endpointLook(agent, bound)),
        kinds: [good, builtIn, { ...good, state: 'off' } as const].map((one) => endpointLook(agent, one).contextValue),
      },
      {
        hover: [
          [['Last good call', `${new Date(at).toLocaleTimeString()}, answered in 35 ms`]],
          [['Last good call', 'none yet']],
          [],
        ],
        same: true,
        kinds: ['endpoint-upstream', 'endpoint-on', 'endpoint-off'],
      },
    );
  });
});
