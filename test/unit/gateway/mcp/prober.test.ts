import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/base/events.ts';
import type { ProbeEffect } from '../../../../src/core/fleet/effects.ts';
import type { FleetEvent } from '../../../../src/core/fleet/events.ts';
import type { JsonRpcMessage } from '../../../../src/gateway/mcp/jsonRpc.ts';
import { Prober } from '../../../../src/gateway/mcp/prober.ts';
import type { SessionRecord } from '../../../../src/gateway/mcp/sessionFile.ts';
import type { StandingStream } from '../../../../src/gateway/mcp/standingStreams.ts';
import { MemoryFleet } from '../../../harness/mcpFleet.ts';
import { waitFor } from '../../../harness/waitFor.ts';

const session: SessionRecord = {
  id: 's1',
  agent: 'ada',
  launchId: 'ada.1',
  server: 'bowline-self',
  protocolVersion: '2025-11-25',
  client: { name: 'claude-code', version: '2.1.332' },
  createdAt: 1,
};
const effect: ProbeEffect = { kind: 'probe', id: 'p1', name: 'ada', server: 'bowline-self', launchId: 'ada.1' };

/** Fake streams: a list that a test may change, and what was sent on which. */
class FakeStreams {
  readonly open: SessionRecord[] = [];
  readonly sent: { readonly on: string; readonly message: JsonRpcMessage }[] = [];
  private readonly closed = new Emitter<StandingStream>();
  readonly onDidClose = this.closed.event;
  private readonly made = new Map<string, StandingStream>();

  newest(): StandingStream | undefined {
    const latest = this.open.at(-1);
    return latest === undefined ? undefined : this.streamOf(latest);
  }

  send(on: string, message: JsonRpcMessage): boolean {
    this.sent.push({ on, message });
    return true;
  }

  close(record: SessionRecord): void {
    this.open.splice(this.open.indexOf(record), 1);
    this.closed.fire(this.streamOf(record));
  }

  private streamOf(record: SessionRecord): StandingStream {
    const known = this.made.get(record.id) ?? ({ session: record } as StandingStream);
    this.made.set(record.id, known);
    return known;
  }
}

describe('prober', () => {
  let fleet: MemoryFleet;
  let streams: FakeStreams;
  let prober: Prober;

  beforeEach(() => {
    fleet = new MemoryFleet();
    streams = new FakeStreams();
    prober = new Prober({ fleet, streams, clock: () => 7, limitMs: 20 });
  });

  afterEach(() => {
    prober.dispose();
  });

  const sentId = (): string => {
    const message = streams.sent.at(-1)?.message;
    return message !== undefined && 'id' in message ? String(message.id) : '';
  };
  const told = (): string[] => fleet.events.map((event: FleetEvent) => event.kind);

  it('sends one ping for an effect, however often it is planned, also after its end', () => {
    streams.open.push(session);
    prober.run(effect);
    prober.run(effect);
    const answered = prober.answer(session, sentId());
    prober.run(effect);
    const [event] = fleet.ofKind('probe answered');
    assert.deepStrictEqual(
      {
        told: told(),
        pings: streams.sent.map(({ on, message }) => [on, 'method' in message && message.method]),
        answered,
        event: { ...event, roundTripMs: typeof event?.roundTripMs },
      },
      {
        told: ['probe answered'],
        pings: [['s1', 'ping']],
        answered: true,
        event: {
          at: 7,
          kind: 'probe answered',
          name: 'ada',
          server: 'bowline-self',
          launchId: 'ada.1',
          sentAt: 7,
          roundTripMs: 'number',
        },
      },
    );
  });

  it('takes no answer of somebody else, none twice, and none to a question never asked', () => {
    streams.open.push(session);
    prober.run(effect);
    const id = sentId();
    assert.deepStrictEqual(
      [
        prober.answer({ ...session, agent: 'bo' }, id),
        prober.answer({ ...session, launchId: 'ada.2' }, id),
        prober.answer(session, 'bowline-other'),
        prober.answer(session, 1),
        prober.answer({ ...session, id: 's2' }, id),
        prober.answer(session, id),
        told(),
      ],
      [false, false, false, false, true, false, ['probe answered']],
    );
  });

  it('fails after the limit, and a late answer counts for nothing', async () => {
    streams.open.push(session);
    prober.run(effect);
    await waitFor('the limit', () => told().includes('probe failed'));
    assert.deepStrictEqual([prober.answer(session, sentId()), told()], [false, ['probe failed']]);
  });

  it('goes on over another stream of the endpoint when its own closes, and fails at once without one', () => {
    const second = { ...session, id: 's2' };
    streams.open.push(session, second);
    prober.run(effect);
    streams.close(second);
    const moved = told();
    streams.close(session);
    assert.deepStrictEqual([streams.sent.map(({ on }) => on), moved, told()], [['s2', 's1'], [], ['probe failed']]);
  });

  it('says that the stream is closed where the plan thinks it open, and may run again later', () => {
    prober.run(effect);
    const without = told();
    streams.open.push(session);
    prober.run(effect);
    assert.deepStrictEqual([without, streams.sent.length], [['mcp stream closed'], 1]);
  });

  it('reports nothing after its end', () => {
    streams.open.push(session);
    prober.run(effect);
    const id = sentId();
    prober.dispose();
    streams.close(session);
    assert.deepStrictEqual([prober.answer(session, id), told()], [false, []]);
  });
});
