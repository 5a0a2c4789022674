import { isUtf8 } from 'node:buffer';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { Disposable } from '../../base/lifecycle.ts';
import { rpcCodes, rpcError } from '../mcp/jsonRpc.ts';
import { isResponseTo, parsed } from './httpEvents.ts';
import { collect } from './httpBody.ts';
import { connectionFailure, hasCredentials, lowerCase, readRefusal, reasonOf } from './httpFailure.ts';
import { HttpListener } from './httpListener.ts';
import type { HttpPool } from './httpPool.ts';
import { passEvents } from './httpStream.ts';
import { TimeLimit } from './timeLimit.ts';
import type {
  AgentMessage,
  AnswerSink,
  EventSink,
  ExchangeOutcome,
  UpstreamOpening,
  UpstreamSession,
} from './upstreamSession.ts';

/** Limits of an upstream over HTTP, in milliseconds. */
export interface HttpTimes {
  /** Until a message is on its way, with all attempts. */
  readonly setUp: number;
  /** Between a request and the next that is heard of it. */
  readonly answer: number;
  /** The same for `tools/call`, which may rightly take long. */
  readonly call: number;
}

export const httpTimes: HttpTimes = { setUp: 20_000, answer: 60_000, call: 3_600_000 };

/** Between two attempts to connect: the first wait, which doubles up to the longest. */
const waits = { first: 50, longest: 2_000 } as const;

/** A stream that has brought the answer has nothing more to say (MCP, Streamable HTTP); its end saves the connection. */
const endAfterAnswer = 10_000;

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

/** One way of a message through {@link HttpSession}, over all attempts. */
interface Exchange {
  readonly message: AgentMessage;
  readonly sink: AnswerSink;
  gone: boolean;
  /** The whole answer was handed on. */
  answered: boolean;
  /** Ends what is going on right now. */
  stop: () => void;
}

type Settle = (outcome: ExchangeOutcome | { readonly kind: 'moved'; readonly to: URL }) => void;

/** One session of an upstream that speaks streamable HTTP. A server without sessions is one that never forgets. */
export class HttpSession implements UpstreamSession {
  private readonly times: HttpTimes;
  private readonly open = new Set<ClientRequest>();
  private readonly problem: string | undefined;
  private url: URL;
  private session: string | undefined;
  private revision: string | undefined;
  private lostBecause: string | undefined;
  private listener: HttpListener | undefined;
  private disposed = false;

  constructor(private readonly options: HttpSessionOptions) {
    const { definition, resumption } = options.opening;
    if (definition.kind !== 'http') throw new Error(`an upstream of kind ${definition.kind} speaks no streamable HTTP`);
    this.times = options.times ?? httpTimes;
    const former = resumptionSchema.safeParse(resumption === undefined ? undefined : parsed(resumption)).data;
    const url = former?.url ?? definition.url;
    this.problem = URL.canParse(url) ? undefined : `its address is no URL: ${url}`;
    this.url = new URL(this.problem === undefined ? url : 'http://127.0.0.1:0');
    this.session = former?.session;
    this.revision = former?.revision;
  }

  get resumption(): string | undefined {
    const { session, revision } = this;
    if (revision === undefined) return undefined;
    return JSON.stringify({ url: this.url.href, revision, ...(session !== undefined && { session }) });
  }

  async exchange(message: AgentMessage, sink: AnswerSink): Promise<ExchangeOutcome> {
    const exchange: Exchange = { message, sink, gone: false, answered: false, stop: () => undefined };
    sink.onGone(() => {
      exchange.gone = true;
      exchange.stop();
    });
    if (this.problem !== undefined) return { kind: 'refused', reason: this.problem };
    const until = performance.now() + this.times.setUp;
    let wait: number = waits.first;
    for (let moves = 0; ;) {
      if (exchange.gone) return { kind: 'answered' };
      if (this.lostBecause !== undefined) return { kind: 'session lost', reason: this.lostBecause };
      const outcome = await this.attempt(exchange, until);
      if (outcome.kind === 'moved') {
        if (++moves > 3) return { kind: 'refused', reason: `it redirects on and on, to ${outcome.to.href}` };
        this.url = outcome.to;
        continue;
      }
      if (outcome.kind === 'session lost') this.lose(outcome.reason);
      if (outcome.kind !== 'unreachable' || this.disposed || performance.now() + wait > until) return outcome;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, wait);
        exchange.stop = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      wait = Math.min(wait * 2, waits.longest);
    }
  }

  listen(sink: EventSink, lastEventId: string | undefined): Disposable {
    this.listener?.dispose();
    const { host } = this.options.opening;
    const listener = new HttpListener({
      connect: (from) => this.get(from),
      sink,
      lastEventId,
      hasSession: () => this.session !== undefined,
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
    const request = this.get(lastEventId);
    sink.onGone(() => request.destroy());
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
        response.resume();
        resolve({ kind: 'refused', reason: `HTTP ${response.statusCode ?? 0}` });
      });
    });
  }

  end(): void {
    if (this.disposed) return;
    const { session } = this;
    this.dispose();
    if (session === undefined || this.lostBecause !== undefined) return;
    try {
      const request = this.request('DELETE', {}, session);
      request.on('error', () => undefined); // it is told as a courtesy: the upstream forgets by itself
      request.on('response', (response) => response.resume());
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
    for (const request of this.open) request.destroy(new Error('the session of the agent has ended'));
  }

  private lose(reason: string): void {
    this.lostBecause ??= reason;
    this.listener?.dispose();
  }

  private attempt(exchange: Exchange, until: number): Promise<Parameters<Settle>[0]> {
    return new Promise((resolve) => {
      const { message } = exchange;
      const { reading } = message;
      let request: ClientRequest;
      try {
        request = this.request('POST', {
          ...message.headers,
          'content-type': 'application/json',
          'content-length': message.body.length,
        });
      } catch (error) {
        resolve({ kind: 'refused', reason: reasonOf(error) });
        return;
      }
      // From here on the upstream may have read the whole message. Without an error before it: nothing less may be repeated.
      let sent = false;
      const answerLimit =
        reading.kind === 'request' && reading.method === 'tools/call' ? this.times.call : this.times.answer;
      const limit = new TimeLimit(Math.max(1, until - performance.now()), (milliseconds) => {
        const seconds = Math.round(milliseconds / 1000);
        if (exchange.answered) settle({ kind: 'answered' });
        else if (sent) settle({ kind: 'unknown', reason: `it did not answer within ${seconds} s` });
        else settle({ kind: 'unreachable', reason: `it could not be reached in ${seconds} s` });
        request.destroy();
        if (sent && !exchange.answered) this.cancel(message);
      });
      const settle: Settle = (outcome) => {
        limit.dispose();
        this.open.delete(request);
        exchange.stop = () => undefined;
        resolve(outcome);
      };
      exchange.stop = () => {
        settle({ kind: 'answered' });
        request.destroy();
      };
      this.open.add(request);
      request.on('finish', () => {
        sent = true;
        limit.restart(answerLimit);
      });
      request.on('error', (error) => {
        settle(sent ? { kind: 'unknown', reason: reasonOf(error) } : connectionFailure(error));
      });
      request.on('response', (response) => {
        this.read(response, exchange, limit, settle);
      });
      request.end(message.body);
    });
  }

  private read(response: IncomingMessage, exchange: Exchange, limit: TimeLimit, settle: Settle): void {
    const { message, sink } = exchange;
    const { statusCode: status = 0, headers } = response;
    const { reading } = message;
    const taken = status >= 200 && status < 300;
    if (taken && reading.kind === 'request' && reading.method === 'initialize') {
      const session = headers['mcp-session-id'];
      this.session = typeof session === 'string' ? session : undefined;
    }
    if (taken && reading.kind !== 'request') {
      response.resume();
      settle({ kind: 'answered' });
    } else if (taken && /^text\/event-stream/i.test(headers['content-type'] ?? '')) {
      void this.stream(response, exchange, limit).then(settle);
    } else {
      collect(response, limit, (body) => {
        if ('problem' in body) settle({ kind: 'unknown', reason: body.problem });
        else if (taken) settle(this.answer(body.bytes, message, sink));
        else settle(this.refusal(response, body.bytes, message, sink));
      });
    }
  }

  /** Passes a request's stream on. One that breaks goes on after its last event, where the upstream has named that. */
  private async stream(first: IncomingMessage, exchange: Exchange, limit: TimeLimit): Promise<ExchangeOutcome> {
    const { reading } = exchange.message;
    if (reading.kind !== 'request') return { kind: 'answered' };
    const seen: { lastEventId: string | undefined } = { lastEventId: undefined };
    let response: IncomingMessage | undefined = first;
    while (response !== undefined) {
      const former = seen.lastEventId;
      const end = await passEvents(response, exchange.sink, ({ id, data }) => {
        seen.lastEventId = id ?? seen.lastEventId;
        if (!exchange.answered && data !== '' && isResponseTo(reading.id, data)) {
          exchange.answered = true;
          if (reading.method === 'initialize') this.initialized(parsed(data));
        }
        limit.restart(exchange.answered ? endAfterAnswer : undefined);
      });
      if (exchange.gone) return { kind: 'answered' };
      if (end === 'too long') return { kind: 'unknown', reason: 'one event of its stream is larger than 16 MB' };
      // A stream that ends well after an event with an id is one that the agent is to come back to.
      if (exchange.answered || (end === 'ended' && seen.lastEventId !== undefined)) return { kind: 'answered' };
      response = end === 'cut' && seen.lastEventId !== former ? await this.reopen(seen.lastEventId) : undefined;
    }
    return { kind: 'unknown', reason: 'its stream ended without the answer' };
  }

  private reopen(lastEventId: string | undefined): Promise<IncomingMessage | undefined> {
    return new Promise((resolve) => {
      const request = this.get(lastEventId);
      request.on('error', () => {
        resolve(undefined);
      });
      request.on('response', (response) => {
        if (response.statusCode === 200) {
          resolve(response);
          return;
        }
        response.resume();
        resolve(undefined);
      });
    });
  }

  /** Hands on the whole answer, if it is one to this request: a client that gets another would wait forever. */
  private answer(bytes: Buffer, { reading }: AgentMessage, sink: AnswerSink): ExchangeOutcome {
    if (reading.kind !== 'request') return { kind: 'answered' };
    if (bytes.length === 0) return { kind: 'unknown', reason: 'its answer is empty' };
    if (!isUtf8(bytes)) return { kind: 'unknown', reason: 'its answer is not UTF-8' };
    const message = parsed(bytes.toString('utf8'));
    if (typeof message !== 'object' || message === null) return { kind: 'unknown', reason: 'its answer is not JSON' };
    const id = 'id' in message ? message.id : null;
    if (id === null && 'error' in message) {
      sink.json(JSON.stringify({ ...message, id: reading.id }));
      return { kind: 'answered' };
    }
    if (!isDeepStrictEqual(id, reading.id)) return { kind: 'unknown', reason: 'it answered another request than this' };
    if (reading.method === 'initialize') this.initialized(message);
    sink.json(bytes);
    return { kind: 'answered' };
  }

  private initialized(message: unknown): void {
    this.revision = z.safeParse(initializedSchema, message).data?.result.protocolVersion;
  }

  /** What an answer means that is none of success. */
  private refusal(
    { statusCode: status = 0, headers }: IncomingMessage,
    bytes: Buffer,
    { reading }: AgentMessage,
    sink: AnswerSink,
  ): Parameters<Settle>[0] {
    const { definition, server, host } = this.options.opening;
    const refusal = readRefusal({
      ...{ status, location: headers.location, text: bytes.toString('utf8') },
      ...{ url: this.url, hadSession: this.session !== undefined },
    });
    if (refusal.kind === 'login') {
      if (definition.kind !== 'stdio' && !hasCredentials(definition.headers)) host.wantsLogin();
      return { kind: 'refused', reason: refusal.reason };
    }
    if (refusal.kind !== 'request refused') return refusal;
    if (reading.kind === 'request') {
      const words = `The MCP server "${server}" refused the request: ${refusal.reason}`;
      sink.json(JSON.stringify(rpcError(reading.id, rpcCodes.badRequest, words, { status })));
    }
    return { kind: 'answered' };
  }

  /** Nobody waits for this request any more. */
  private cancel({ reading }: AgentMessage): void {
    if (reading.kind !== 'request' || reading.method === 'initialize' || this.disposed) return;
    const params = { requestId: reading.id, reason: 'No answer within the time limit' };
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    const message: AgentMessage = {
      body,
      reading: { kind: 'notification', method: 'notifications/cancelled' },
      headers: {},
    };
    void this.exchange(message, nowhere);
  }

  private get(lastEventId: string | undefined): ClientRequest {
    const request = this.request('GET', {
      accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    });
    this.open.add(request);
    request.on('close', () => this.open.delete(request));
    request.on('socket', (socket) => socket.setKeepAlive(true, 15_000));
    request.end();
    return request;
  }

  private request(
    method: string,
    headers: Readonly<Record<string, string | number>>,
    session: string | undefined = this.session,
  ): ClientRequest {
    const { definition } = this.options.opening;
    if (definition.kind === 'stdio') throw new Error('no upstream over HTTP');
    const begin = this.url.protocol === 'https:' ? httpsRequest : httpRequest;
    return begin(this.url, {
      method,
      agent: this.options.pool.agentFor(this.url),
      headers: {
        accept: 'application/json, text/event-stream',
        ...headers,
        ...(this.revision !== undefined && { 'mcp-protocol-version': this.revision }),
        ...lowerCase(definition.headers),
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
    });
  }
}

const initializedSchema = z.object({ result: z.object({ protocolVersion: z.string() }) });

const nowhere: AnswerSink = {
  json: () => undefined,
  events: () => true,
  drained: () => Promise.resolve(),
  onGone: () => undefined,
};
