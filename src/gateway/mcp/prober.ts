import { randomUUID } from 'node:crypto';
import { DisposableObject, toDisposable } from '../../base/lifecycle.ts';
import { bindingTimes } from '../../core/binding/times.ts';
import type { ProbeEffect } from '../../core/fleet/effects.ts';
import type { Clock, FleetPort } from '../ports.ts';
import type { SessionRecord } from './sessionFile.ts';
import { type EndpointOf, sameEndpoint, type StandingStream, type StandingStreams } from './standingStreams.ts';

export interface ProberOptions {
  readonly fleet: FleetPort;
  readonly streams: Pick<StandingStreams, 'newest' | 'send' | 'onDidClose'>;
  readonly clock: Clock;
  /** Milliseconds after which a probe counts as unanswered. Default: `bindingTimes.probeLimit`. */
  readonly limitMs?: number;
}

interface Probe {
  readonly effect: ProbeEffect;
  readonly endpoint: EndpointOf;
  /** By the fleet's clock. */
  readonly sentAt: number;
  /** By the clock that never jumps, in milliseconds. */
  readonly startedAt: number;
  readonly timer: ReturnType<typeof setTimeout>;
  stream: StandingStream;
}

/** How many ids of finished probes are remembered: a plan made before their end may still name them. */
const finishedKept = 1_000;

/**
 * Runs probes: a JSON-RPC `ping` on the standing stream, which Claude answers by a POST without the model, in 2 - 30 ms
 * (measured, claude 2.1.160 and 2.1.332). Reports how a probe ended: `probe answered` or `probe failed`.
 */
export class Prober extends DisposableObject {
  /** By the id of the ping. */
  private readonly waiting = new Map<string, Probe>();
  private readonly known = new Set<string>();

  constructor(private readonly options: ProberOptions) {
    super();
    this._register(
      options.streams.onDidClose((stream) => {
        this.moveOrFail(stream);
      }),
    );
    this._register(
      toDisposable(() => {
        for (const probe of this.waiting.values()) clearTimeout(probe.timer);
        this.waiting.clear();
      }),
    );
  }

  /** Sends the ping of `effect` once, however often it is called with the same id. */
  run(effect: ProbeEffect): void {
    if (this.known.has(effect.id)) return;
    const { fleet, streams, clock } = this.options;
    const endpoint = { agent: effect.name, server: effect.server, launchId: effect.launchId };
    const stream = streams.newest(endpoint);
    const sentAt = clock();
    if (stream === undefined) {
      // The plan counts on a stream that is not there: that is what there is to say.
      const { name, server, launchId } = effect;
      fleet.report({ at: sentAt, name, server, launchId, kind: 'mcp stream closed', session: '' });
      return;
    }
    this.remember(effect.id);
    const pingId = `bowline-${randomUUID()}`;
    const timer = setTimeout(() => {
      this.fail(pingId);
    }, this.options.limitMs ?? bindingTimes.probeLimit);
    this.waiting.set(pingId, { effect, endpoint, sentAt, startedAt: performance.now(), timer, stream });
    streams.send(stream.session.id, ping(pingId));
  }

  /** Takes a response that a client of `session` sent. False: it answers no probe. An error proves life, too. */
  answer(session: SessionRecord, id: string | number): boolean {
    const probe = typeof id === 'string' ? this.waiting.get(id) : undefined;
    if (probe === undefined || !sameEndpoint(session, probe.endpoint)) return false;
    const roundTripMs = Math.round((performance.now() - probe.startedAt) * 10) / 10;
    this.finish(String(id), { kind: 'probe answered', roundTripMs });
    return true;
  }

  /** A probe on a stream that closed goes on over another stream of the endpoint, where there is one. */
  private moveOrFail(closed: StandingStream): void {
    for (const [pingId, probe] of this.waiting) {
      if (probe.stream !== closed) continue;
      const other = this.options.streams.newest(probe.endpoint);
      if (other === undefined) {
        this.fail(pingId);
        continue;
      }
      probe.stream = other;
      this.options.streams.send(other.session.id, ping(pingId));
    }
  }

  private fail(pingId: string): void {
    this.finish(pingId, { kind: 'probe failed' });
  }

  private finish(
    pingId: string,
    outcome: { readonly kind: 'probe answered'; readonly roundTripMs: number } | { readonly kind: 'probe failed' },
  ): void {
    const probe = this.waiting.get(pingId);
    if (probe === undefined) return;
    this.waiting.delete(pingId);
    clearTimeout(probe.timer);
    const { name, server, launchId } = probe.effect;
    this.options.fleet.report({ at: this.options.clock(), name, server, launchId, sentAt: probe.sentAt, ...outcome });
  }

  private remember(id: string): void {
    this.known.add(id);
    if (this.known.size <= finishedKept) return;
    const [oldest] = this.known;
    if (oldest !== undefined) this.known.delete(oldest);
  }
}

function ping(id: string): { readonly jsonrpc: '2.0'; readonly id: string; readonly method: 'ping' } {
  return { jsonrpc: '2.0', id, method: 'ping' };
}
