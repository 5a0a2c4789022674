import { deepStrictEqual } from 'node:assert/strict';
import type { FleetEvent } from '../../../../src/core/fleet/events.ts';
import { emptyFleet } from '../../../../src/core/fleet/state.ts';
import { nudge } from '../../../../src/gateway/mcp/nudge.ts';
import { MemoryFleet } from '../../../harness/mcpFleet.ts';

const effect = { kind: 'nudge', id: 'n', name: 'ada', server: 'self', launchId: 'ada.1', attemptId: 'a' } as const;
const session = {
  ...{ id: 'session-1', agent: 'ada', server: 'self', launchId: 'ada.1', createdAt: 1 },
  protocolVersion: '2025-11-25',
  client: { name: 'claude-code', version: '2.1.332' },
} as const;

describe('a nudge', () => {
  it('drops the stream of the endpoint, once there is one, and tells which', () => {
    const fleet = new MemoryFleet(emptyFleet);
    const closed: string[] = [];
    let open = true;
    const streams = {
      newest: ({ agent }: { readonly agent: string }) =>
        open && agent === 'ada' ? { session, response: undefined as never } : undefined,
      close: (id: string) => {
        closed.push(id);
        open = false;
      },
    };
    nudge({ fleet, streams, clock: () => 7 }, effect);
    nudge({ fleet, streams, clock: () => 8 }, effect);
    const subject = { name: 'ada', server: 'self', attemptId: 'a' };
    const expected: readonly FleetEvent[] = [
      { at: 7, ...subject, kind: 'rung acted' },
      { at: 8, ...subject, kind: 'rung ended', outcome: 'failed', detail: 'no stream is open' },
    ];
    deepStrictEqual([closed, fleet.events], [['session-1'], expected]);
  });
});
