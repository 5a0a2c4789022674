import { ok } from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { mock } from 'node:test';
import { longestSilence, StandingStreams } from '../../../../src/gateway/mcp/standingStreams.ts';
import { MemoryFleet } from '../../../harness/mcpFleet.ts';

const stepMs = 100;

const session = {
  id: 's1',
  agent: 'ada',
  server: 'bowline-self',
  launchId: 'ada.1',
  protocolVersion: '2025-06-18',
  client: { name: 'test', version: '1' },
  createdAt: 0,
};

/** A response that nobody reads. */
class UnreadResponse extends ServerResponse {
  onWrite: () => void = () => undefined;

  override write(): boolean {
    this.onWrite();
    return true;
  }
}

/** The longest that nothing was written on a stream opened at `openedAt`, in two minutes of the mocked clock. */
function longestOf(openedAt: number): number {
  const streams = new StandingStreams({ fleet: new MemoryFleet(), clock: () => Date.now() });
  const request = new IncomingMessage(new Socket());
  const response = new UnreadResponse(request);
  let now = 0;
  let last = openedAt;
  let longest = 0;
  response.onWrite = () => {
    last = now;
  };
  for (; now < 120_000; now += stepMs) {
    if (now === openedAt) {
      streams.open(session, request, response);
    }
    mock.timers.tick(stepMs);
    if (now >= openedAt) longest = Math.max(longest, now - last);
  }
  streams.dispose();
  return longest;
}

describe('standing streams', () => {
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
  });

  afterEach(() => {
    mock.timers.reset();
  });

  it('are never silent for 25 s, whenever they were opened', () => {
    for (let openedAt = 0; openedAt < 30_000; openedAt += stepMs) {
      const longest = longestOf(openedAt);
      ok(longest <= longestSilence - 2_000, `opened at ${String(openedAt)} ms: silent for ${String(longest)} ms`);
    }
  });
});
