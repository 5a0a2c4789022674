import * as z from 'zod/mini';
import type { Disposable } from '../../base/lifecycle.ts';
import { discard } from './httpBody.ts';
import { parsed } from './httpEvents.ts';
import { HttpExchange, type HttpTimes } from './httpExchange.ts';
import { connectionFailure } from './httpFailure.ts';
import { HttpListener } from './httpListener.ts';
import type { HttpPool } from './httpPool.ts';
import { HttpRequests } from './httpRequests.ts';
import { passEvents } from './httpStream.ts';
import type {
  AgentMessage,
  AnswerSink,
  EventSink,
  ExchangeOutcome,
  UpstreamOpening,
  UpstreamSession,
} from './upstreamSession.ts';

export const httpTimes: HttpTimes = { setUp: 20_000, answer: 60_000, call: 3_600_000 };

/** Between two attempts to connect: the first wait, which doubles up to the longest. */
const waits = { first: 50, longest: 2_000 } as const;

const mostMoves = 3;

const resumptionSchema = z.object({
  url: z.string(),
  session: z.exactOptional(z.string()),
  revision: z.exactOptional(z.string()),
});

export interface HttpSessionOptions {
  readonly opening: UpstreamOpening;
  readonly pool: HttpPool;
  readonly times?: HttpTimes;
}

/** One session of an upstream that speaks streamable HTTP. A server without sessions is one that never forgets. */
export class HttpSession implements UpstreamSession {
  private readonly times: HttpTimes;
  private readonly requests: HttpRequests;
  private readonly problem: string | undefined;
  private lostBecause: string | undefined;
  private listener: HttpListener | undefined;
  private disposed = false;

  constructor(private readonly options: HttpSessionOptions) {
    const { pool, opening, times } = options;
    const { definition, resumption } = opening;
    if (definition.kind !== 'http') throw new Error(`an upstream of kind ${definition.kind} speaks no streamable HTTP`);
    this.times = times ?? httpTimes;
    const former = resumptionSchema.safeParse(resumption === undefined ? undefined : parsed(resumption)).data;
    const url = former?.url ?? definition.url;
    this.problem = URL.canParse(url) ? undefined : 'its address is no URL';
    this.requests = new HttpRequests({
      ...{ pool, headers: definition.headers, session: former?.session, revision: former?.revision },
      url: new URL(this.problem === undefined ? url : 'http://127.0.0.1:0'),
    });
  }

  get resumption(): string | undefined {
    const { url, session, revision } = this.requests;
    if (revision === undefined) return undefined;
    return JSON.stringify({ url: url.href, revision, ...(session !== undefined && { session }) });
  }

  async exchange(message: AgentMessage, sink: AnswerSink): Promise<ExchangeOutcome> {
    if (this.problem !== undefined) return { kind: 'refused', reason: this.problem };
    const { requests, times } = this;
    const { opening } = this.options;
    const expired = (): void => {
      this.cancel(message);
    };
    const exchange = new HttpExchange({ message, sink, requests, opening, times, expired });
    const until = performance.now() + times.setUp;
    let wait: number = waits.first;
    for (let moves = 0; ;) {
      if (exchange.gone) return { kind: 'answered' };
      if (this.lostBecause !== undefined) return { kind: 'session lost', reason: this.lostBecause };
      const outcome = await exchange.attempt(until);
      if (outcome.kind === 'moved') {
        if (++moves > mostMoves) return { kind: 'refused', reason: `it redirects on and on, to ${outcome.to.href}` };
        requests.url = outcome.to;
        continue;
      }
      if (outcome.kind === 'session lost') this.lose(outcome.reason);
      if (outcome.kind !== 'unreachable' || this.disposed || performance.now() + wait > until) return outcome;
      await exchange.wait(wait);
      wait = Math.min(wait * 2, waits.longest);
    }
  }

  listen(sink: EventSink, lastEventId: string | undefined): Disposable {
    this.listener?.dispose();
    const { host } = this.options.opening;
    const listener = new HttpListener({
      connect: (from) => this.requests.stream(from),
      sink,
      lastEventId,
      hasSession: () => this.requests.session !== undefined,
      failing: (reason) => {
        if (!this.disposed) host.failing(reason);
      },
      lost: (reason) => {
        this.lose(reason);
        if (!this.disposed) host.lost(reason);
      },
      onDidInvalidate: this.options.pool.onDidInvalidate,
    });
    this.listener = listener;
    return listener;
  }

  async resume(lastEventId: string, sink: AnswerSink): Promise<ExchangeOutcome> {
    const request = this.requests.stream(lastEventId);
    sink.onGone(() => request.destroy(new Error('nobody waits for it')));
    return new Promise((resolve) => {
      request.on('error', (error) => {
        resolve(connectionFailure(error));
      });
      request.on('response', (response) => {
        if (response.statusCode === 200) {
          void passEvents(response, sink, () => undefined).then(() => {
            resolve({ kind: 'answered' });
          });
          return;
        }
        discard(response);
        resolve({ kind: 'refused', reason: `HTTP ${response.statusCode ?? 0}` });
      });
    });
  }

  end(): void {
    if (this.disposed) return;
    const { session } = this.requests;
    this.dispose();
    if (session === undefined || this.lostBecause !== undefined) return;
    try {
      const request = this.requests.begin('DELETE', {}, session);
      request.on('error', () => undefined); // it is told as a courtesy: the upstream forgets by itself
      request.on('response', discard);
      request.setTimeout(this.times.setUp, () => request.destroy());
      request.end();
    } catch {
      return; // what cannot be asked was never opened
    }
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.listener?.dispose();
    this.requests.dispose();
  }

  private lose(reason: string): void {
    this.lostBecause ??= reason;
    this.listener?.dispose();
  }

  /** Where no revision was settled on, as with `initialize`, the end of the connection has to say it. */
  private cancel({ reading }: AgentMessage): void {
    if (reading.kind !== 'request' || this.requests.revision === undefined || this.disposed) return;
    const params = { requestId: reading.id, reason: 'No answer within the time limit' };
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    const message: AgentMessage = {
      body,
      reading: { kind: 'notification', method: 'notifications/cancelled' },
      headers: {},
    };
    void this.exchange(message, nowhere);
  }
}

const nowhere: AnswerSink = {
  json: () => undefined,
  events: () => true,
  drained: () => Promise.resolve(),
  onGone: () => undefined,
};
