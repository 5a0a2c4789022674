import { delay } from '../../base/async.ts';
import type { Event } from '../../base/events.ts';
import { type Disposable, toDisposable } from '../../base/lifecycle.ts';
import { type RequestId, rpcCodes } from '../mcp/jsonRpc.ts';
import { eventOf } from './httpEvents.ts';
import { subscriptionIdKey } from '../mcp/revisions.ts';
import type { MessagePipe, PipeListener, PipeOpening } from './pipe.ts';
import { memberOf, type OpenRequest, PipeExchanges } from './pipeExchanges.ts';
import { idSpan, withId } from './pipeId.ts';
import { silenceLimit, type SilenceTimes, TimeLimit } from './timeLimit.ts';
import type {
  AgentMessage,
  AnswerSink,
  EventSink,
  ExchangeOutcome,
  UpstreamHost,
  UpstreamSession,
} from './upstreamSession.ts';

/** Limits of an upstream behind a pipe, in milliseconds. */
export interface PipeTimes extends SilenceTimes {
  /** Until the server has answered `initialize`, with all starts. */
  readonly setUp: number;
}

export const pipeTimes: PipeTimes = { setUp: 30_000, answer: 60_000, call: 3_600_000 };

/** So many characters wait for a server that does not read before nothing more is taken. */
const longestBacklog = 32 * 1024 * 1024;

/** What the server says before the agent listens is kept, up to so many messages and characters. */
const keptUnheard = { messages: 64, characters: 1024 * 1024 } as const;

/** Requests of a server that the agent owes an answer to. */
const mostServerRequests = 256;

/** Ids of such requests are kept until the agent answers. */
const longestServerId = 1_000;

/** Between two starts, and what is not waited for any more, in milliseconds. */
const betweenStarts = 50;
const longestWait = 2000;

/** What a server is known to ask back, or to tell of, while it works on it. */
const askingBack: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

export interface PipeSessionOptions {
  /** Opens the way to the server anew. */
  readonly connect: (listener: PipeListener) => Promise<PipeOpening>;
  /** Milliseconds until the next {@link connect} is due, above 0 after ends in a row, and how the last one came. */
  readonly wait: () => { readonly milliseconds: number; readonly reason: string | undefined };
  /** The pipe of a session closed although nobody wanted it to. */
  readonly ended: (reason: string) => void;
  readonly host: UpstreamHost;
  /** A connection of before is not to be trusted any more. Absent: there is none. */
  readonly onDidInvalidate?: Event<void>;
  /** Something that the server said is dropped: the predicate of a sentence. */
  readonly dropped: (reason: string) => void;
  /** See {@link PipeExchanges}. */
  readonly idPrefix: string;
  readonly times?: PipeTimes;
}

/** One session of an upstream behind a {@link MessagePipe}. Is over when the pipe closes. */
export class PipeSession implements UpstreamSession {
  readonly resumption = undefined;
  private readonly times: PipeTimes;
  private readonly exchanges: PipeExchanges;
  private pipe: MessagePipe | undefined;
  private isReady = false;
  private lostBecause: string | undefined;
  private disposed = false;
  private standing: EventSink | undefined;
  private unheard: string[] = [];
  private readonly full = new Set<EventSink>();
  private readonly invalidation: Disposable | undefined;

  constructor(private readonly options: PipeSessionOptions) {
    this.times = options.times ?? pipeTimes;
    this.exchanges = new PipeExchanges(options.idPrefix);
    // What is on its way goes on, and nothing new is sent there.
    this.invalidation = options.onDidInvalidate?.(() => {
      if (this.isReady) this.lose('its connection may not have outlived the sleep of the host');
    });
  }

  async exchange(message: AgentMessage, sink: AnswerSink): Promise<ExchangeOutcome> {
    const { reading } = message;
    // A line break may stand between tokens only: in a string of JSON it is escaped.
    const text = message.body.toString('utf8').replaceAll(/[\r\n]/g, ' ');
    if (reading.kind === 'request' && reading.method === 'initialize' && this.pipe === undefined) {
      return this.initialize(message, text, sink);
    }
    const { pipe } = this;
    if (this.lostBecause !== undefined) return { kind: 'session lost', reason: this.lostBecause };
    if (pipe === undefined || this.disposed) return { kind: 'session lost', reason: 'it was not started' };
    if (pipe.backlog > longestBacklog) return { kind: 'unreachable', reason: 'it does not read what it is sent' };
    switch (reading.kind) {
      case 'request':
        return this.request(pipe, message, text, sink);
      case 'notification':
        return reading.cancels === undefined ? deliver(pipe, text) : this.cancel(pipe, reading.cancels, text);
      case 'response': {
        const id = this.exchanges.agentAnswers(reading.id);
        return id === undefined ? { kind: 'answered' } : deliver(pipe, withId(text, id));
      }
    }
  }

  listen(sink: EventSink): Disposable {
    this.standing = sink;
    for (const text of this.unheard.splice(0)) this.write(sink, text);
    return toDisposable(() => {
      if (this.standing === sink) this.standing = undefined;
    });
  }

  end(): void {
    this.dispose();
  }

  async gone(): Promise<void> {
    await this.pipe?.gone?.();
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.invalidation?.dispose();
    this.pipe?.dispose();
    for (const request of this.exchanges.open) request.settle({ kind: 'unknown', reason: 'the session was ended' });
  }

  /** Starts the server again when it is gone before it has answered: it has done nothing yet that counts. */
  private async initialize(message: AgentMessage, text: string, sink: AnswerSink): Promise<ExchangeOutcome> {
    const agent: { isGone: boolean } = { isGone: false };
    sink.onGone(() => {
      agent.isGone = true;
    });
    const until = performance.now() + this.times.setUp;
    let failure: string | undefined;
    for (;;) {
      const { milliseconds, reason = 'it did not start' } = this.options.wait();
      const wait = failure === undefined ? milliseconds : Math.max(milliseconds, betweenStarts);
      if (wait > longestWait) {
        const seconds = Math.ceil(wait / 1000);
        return { kind: 'unreachable', reason: `${failure ?? reason}; it is not started again for ${seconds} s` };
      }
      if (performance.now() + wait > until) return { kind: 'unreachable', reason: failure ?? reason };
      if (wait > 0) await delay(wait);
      if (agent.isGone || this.disposed) return { kind: 'answered' };
      const outcome = await this.start(message, text, sink, until);
      if (outcome.kind === 'answered' || outcome.kind === 'refused') return outcome;
      failure = outcome.reason;
    }
  }

  private async start(message: AgentMessage, text: string, sink: AnswerSink, until: number): Promise<ExchangeOutcome> {
    const opening = await this.options.connect({
      message: (received) => {
        this.receive(received);
      },
      closed: (reason) => {
        this.closed(reason);
      },
    });
    if (opening.kind !== 'open') return opening;
    const { pipe } = opening;
    if (this.disposed) {
      pipe.dispose();
      return { kind: 'answered' };
    }
    this.pipe = pipe;
    this.unheard = [];
    const outcome = await this.request(pipe, message, text, sink, Math.max(1, until - performance.now()));
    if (this.isReady) return outcome;
    pipe.dispose();
    this.pipe = undefined;
    return outcome;
  }

  private async request(
    pipe: MessagePipe,
    message: AgentMessage,
    text: string,
    sink: AnswerSink,
    limitMs?: number,
  ): Promise<ExchangeOutcome> {
    const request = this.exchanges.begin(message, text, sink);
    const limit = new TimeLimit(limitMs ?? silenceLimit(request.method, this.times), (milliseconds) => {
      request.settle({ kind: 'unknown', reason: `it did not answer within ${Math.round(milliseconds / 1000)} s` });
      this.takeBack(pipe, request, 'No answer within the time limit');
    });
    request.heard = () => {
      limit.restart();
    };
    sink.onGone(() => {
      if (request.outcome !== undefined) return;
      request.settle({ kind: 'answered' });
      this.takeBack(pipe, request, 'The client waits no longer');
    });
    void pipe.send(withId(text, String(request.id))).then((sent) => {
      if (sent.kind !== 'sent') request.settle(sent);
    });
    const outcome = await request.settled;
    limit.dispose();
    return outcome;
  }

  /** `initialize` cannot be cancelled (MCP, Cancellation). */
  private takeBack(pipe: MessagePipe, { id, method }: OpenRequest, reason: string): void {
    if (method === 'initialize') return;
    const params = { requestId: id, reason };
    void pipe.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
  }

  /** A cancelled request gets no answer from the server. */
  private async cancel(pipe: MessagePipe, agentId: RequestId, text: string): Promise<ExchangeOutcome> {
    const request = this.exchanges.ofAgent(agentId);
    if (request === undefined || request.method === 'initialize') return { kind: 'answered' };
    request.settle({ kind: 'answered' });
    return deliver(pipe, withRequestId(JSON.parse(text), request.id));
  }

  private receive(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.options.dropped('is not JSON');
      return;
    }
    try {
      if (Array.isArray(message)) for (const one of message) this.take(JSON.stringify(one), one);
      else this.take(text, message);
    } catch {
      this.options.dropped('is nested too deeply');
    }
  }

  private take(text: string, message: unknown): void {
    const method = memberOf(message, 'method');
    const id = memberOf(message, 'id');
    if (typeof method === 'string') {
      if (id === undefined) this.notified(text, method, message);
      else this.asked(text, id);
      return;
    }
    if (memberOf(message, 'result') === undefined && memberOf(message, 'error') === undefined) {
      this.options.dropped('is no message of JSON-RPC');
      return;
    }
    const request = this.exchanges.ofServer(id);
    if (request === undefined) {
      if (!this.exchanges.wasGiven(id)) this.options.dropped('answers a request that was never made');
      return;
    }
    const answer = withId(text, request.agentIdText);
    if (request.isStreaming) this.write(request.sink, answer);
    else request.sink.json(answer);
    if (request.method === 'initialize') this.isReady = true;
    request.settle({ kind: 'answered' });
    this.options.host.failing(undefined);
  }

  private asked(text: string, id: unknown): void {
    const span = idSpan(text);
    if (span === undefined || (typeof id !== 'string' && typeof id !== 'number')) {
      this.options.dropped('asks under an id that is none');
      return;
    }
    const idText = text.slice(span.start, span.end);
    if (idText.length > longestServerId) {
      this.options.dropped(`asks under an id of more than ${longestServerId} characters`);
      return;
    }
    if (this.exchanges.unansweredByAgent >= mostServerRequests) {
      const error = { code: rpcCodes.internalError, message: 'Too many requests wait for the client' };
      void this.pipe?.send(withId(JSON.stringify({ jsonrpc: '2.0', id: 0, error }), idText));
      return;
    }
    this.pass(withId(text, this.exchanges.serverAsks(idText)), this.cause());
  }

  private notified(text: string, method: string, message: unknown): void {
    const params = memberOf(message, 'params');
    const subscription = this.exchanges.ofServer(memberOf(memberOf(params, '_meta'), subscriptionIdKey));
    if (subscription !== undefined) this.pass(text, subscription);
    else if (method === 'notifications/cancelled') {
      const id = this.exchanges.serverTakesBack(memberOf(params, 'requestId'));
      if (id !== undefined) this.pass(withRequestId(message, id), this.cause());
    } else if (method === 'notifications/progress') {
      const request = this.exchanges.ofToken(memberOf(params, 'progressToken'));
      request?.heard();
      this.pass(text, request);
    } else {
      const isOfAll = method.endsWith('/list_changed') || method === 'notifications/resources/updated';
      this.pass(text, isOfAll ? undefined : this.cause());
    }
  }

  /** The request that what the server says now is about; a pipe does not tell, so only where one alone can be meant. */
  private cause(): OpenRequest | undefined {
    const able = this.exchanges.open.filter(({ method }) => askingBack.has(method));
    return able.length === 1 || this.standing === undefined ? able.at(-1) : undefined;
  }

  private pass(text: string, request: OpenRequest | undefined): void {
    if (request !== undefined) {
      request.isStreaming = true;
      this.write(request.sink, text);
    } else if (this.standing !== undefined) {
      this.write(this.standing, text);
    } else {
      this.unheard.push(text);
      while (
        this.unheard.length > keptUnheard.messages ||
        (this.unheard.length > 1 && totalLength(this.unheard) > keptUnheard.characters)
      ) {
        this.unheard.shift();
      }
    }
  }

  /** A reader that is slower than the server slows the server down. */
  private write(sink: EventSink, text: string): void {
    if (sink.events(eventOf(text)) || this.full.has(sink)) return;
    this.full.add(sink);
    this.pipe?.pause();
    void sink.drained().then(() => {
      this.full.delete(sink);
      if (this.full.size === 0) this.pipe?.resume();
    });
  }

  private closed(reason: string): void {
    this.pipe = undefined;
    this.options.ended(reason);
    const { open } = this.exchanges;
    const kind = this.isReady ? 'unknown' : 'unreachable';
    // Those that never went out are told apart by what their sending resolved with right before.
    queueMicrotask(() => {
      for (const request of open) request.settle({ kind, reason });
    });
    if (this.isReady) this.lose(reason);
  }

  private lose(reason: string): void {
    if (this.lostBecause !== undefined) return;
    this.lostBecause = reason;
    this.options.host.failing(reason);
    this.options.host.lost(reason);
  }
}

async function deliver(pipe: MessagePipe, text: string): Promise<ExchangeOutcome> {
  const sent = await pipe.send(text);
  return sent.kind === 'sent' ? { kind: 'answered' } : sent;
}

/** `notifications/cancelled` with another id in it. */
function withRequestId(message: unknown, requestId: RequestId): string {
  const fields = typeof message === 'object' ? message : {};
  const params = memberOf(message, 'params');
  return JSON.stringify({ ...fields, params: { ...(typeof params === 'object' ? params : {}), requestId } });
}

function totalLength(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}
