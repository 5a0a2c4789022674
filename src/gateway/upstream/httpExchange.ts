import { isUtf8 } from 'node:buffer';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { delay } from '../../base/async.ts';
import { rpcCodes, rpcError } from '../mcp/jsonRpc.ts';
import { collect, discard } from './httpBody.ts';
import { eventOf, isBatch, isResponseTo, parsed } from './httpEvents.ts';
import { connectionFailure, hasCredentials, readRefusal, reasonOf } from './httpFailure.ts';
import type { HttpRequests } from './httpRequests.ts';
import { passEvents } from './httpStream.ts';
import { withId } from './pipeId.ts';
import { silenceLimit, type SilenceTimes, TimeLimit } from './timeLimit.ts';
import type { AgentMessage, AnswerSink, ExchangeOutcome, UpstreamOpening } from './upstreamSession.ts';

/** Limits of an upstream over HTTP, in milliseconds. */
export interface HttpTimes extends SilenceTimes {
  /** Until a message is on its way, with all attempts. */
  readonly setUp: number;
}

/** A stream that has brought the answer has nothing more to say (MCP, Streamable HTTP); its end saves the connection. */
const endAfterAnswer = 10_000;

/** Between two attempts to go on with a stream: the first wait, after one at once, which doubles up to the longest. */
const waits = { first: 100, longest: 2_000 } as const;

/** The revision goes into a header. What does not fit there is none. */
const initializedSchema = z.object({
  result: z.object({ protocolVersion: z.string().check(z.regex(/^[\x21-\x7e]{1,64}$/)) }),
});

/** What an attempt is at. */
interface Progress {
  /** Its outcome is told: what still comes of it is nobody's. */
  over: boolean;
  /** Ends the connection, or the wait, that it is at. */
  cut: () => void;
}

type Request = Extract<AgentMessage['reading'], { readonly kind: 'request' }>;

/** How one attempt ended. `moved`: it is to be made at another address. */
export type Attempt = ExchangeOutcome | { readonly kind: 'moved'; readonly to: URL };

export interface HttpExchangeOptions {
  readonly message: AgentMessage;
  readonly sink: AnswerSink;
  readonly requests: HttpRequests;
  readonly opening: UpstreamOpening;
  readonly times: HttpTimes;
  /** Nobody waits for the answer any more, and the upstream is not told by the end of its connection. */
  readonly expired: () => void;
}

/** The way of one message to an upstream over streamable HTTP and of its answer back, over all attempts. */
export class HttpExchange {
  /** The agent waits no longer. */
  gone = false;
  /** The whole answer was handed on. */
  private answered = false;
  /** Ends what is going on right now. */
  private stop: () => void = () => undefined;

  constructor(private readonly options: HttpExchangeOptions) {
    options.sink.onGone(() => {
      this.gone = true;
      this.stop();
    });
  }

  /** Resolves after so many milliseconds, and at once when the agent waits no longer. */
  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.stop = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Sends the message once. It must be on its way before `until`, on the clock of `performance.now()`. */
  attempt(until: number): Promise<Attempt> {
    const { message, requests, times, expired } = this.options;
    const { reading } = message;
    return new Promise((resolve) => {
      let request: ClientRequest;
      try {
        request = requests.begin('POST', {
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
      const limit = new TimeLimit(Math.max(1, until - performance.now()), (milliseconds) => {
        const seconds = Math.round(milliseconds / 1000);
        if (this.answered) settle({ kind: 'answered' });
        else if (sent) settle({ kind: 'unknown', reason: `it did not answer within ${seconds} s` });
        else settle({ kind: 'unreachable', reason: `it could not be reached in ${seconds} s` });
        progress.cut();
        if (sent && !this.answered) expired();
      });
      const progress: Progress = { over: false, cut: () => request.destroy() };
      const settle = (attempt: Attempt): void => {
        if (progress.over) return;
        progress.over = true;
        limit.dispose();
        this.stop = () => undefined;
        resolve(attempt);
      };
      this.stop = () => {
        settle({ kind: 'answered' });
        progress.cut();
      };
      request.on('finish', () => {
        sent = true;
        limit.restart(reading.kind === 'request' ? silenceLimit(reading.method, times) : times.answer);
      });
      request.on('error', (error) => {
        settle(sent ? { kind: 'unknown', reason: reasonOf(error) } : connectionFailure(error));
      });
      request.on('response', (response) => {
        this.read(response, { progress, limit, settle });
      });
      request.end(message.body);
    });
  }

  private read(
    response: IncomingMessage,
    attempt: { readonly progress: Progress; readonly limit: TimeLimit; readonly settle: (attempt: Attempt) => void },
  ): void {
    const { progress, limit, settle } = attempt;
    const { message, requests } = this.options;
    const { statusCode: status = 0, headers } = response;
    const { reading } = message;
    const taken = status >= 200 && status < 300;
    if (taken && reading.kind === 'request' && reading.method === 'initialize') {
      const session = headers['mcp-session-id'];
      requests.session = typeof session === 'string' ? session : undefined;
    }
    if (taken && reading.kind !== 'request') {
      discard(response);
      settle({ kind: 'answered' });
    } else if (taken && /^text\/event-stream/i.test(headers['content-type'] ?? '')) {
      void this.stream(response, limit, progress).then(settle);
    } else {
      collect(response, limit, (body) => {
        if ('problem' in body) settle({ kind: 'unknown', reason: body.problem });
        else if (taken) settle(this.answer(body.bytes));
        else settle(this.refusal(response, body.bytes));
      });
    }
  }

  /** Passes a request's stream on. One that breaks goes on after its last event, where the upstream has named that. */
  private async stream(first: IncomingMessage, limit: TimeLimit, progress: Progress): Promise<ExchangeOutcome> {
    const { message, sink } = this.options;
    const { reading } = message;
    if (reading.kind !== 'request') return { kind: 'answered' };
    const seen: { lastEventId: string | undefined; retry: number } = { lastEventId: undefined, retry: 0 };
    let response: IncomingMessage | undefined = first;
    let wait = 0;
    while (response !== undefined) {
      const former = seen.lastEventId;
      const end = await passEvents(response, sink, ({ id, data, retry }) => {
        seen.lastEventId = id ?? seen.lastEventId;
        seen.retry = retry ?? seen.retry;
        if (!this.answered && data !== '' && isResponseTo(reading.id, data)) {
          this.answered = true;
          if (reading.method === 'initialize') this.initialized(parsed(data));
        }
        limit.restart(this.answered ? endAfterAnswer : undefined);
      });
      if (this.gone || progress.over) return { kind: 'answered' };
      if (end === 'too long') return { kind: 'unknown', reason: 'one event of its stream is larger than 16 MB' };
      // A stream that ends well after an event with an id is one that the agent is to come back to.
      if (this.answered || (end === 'ended' && seen.lastEventId !== undefined)) return { kind: 'answered' };
      if (end !== 'cut' || seen.lastEventId === former) break;
      response = await this.reopen(seen.lastEventId, Math.max(wait, seen.retry), progress);
      wait = Math.min(Math.max(wait * 2, waits.first), waits.longest);
    }
    return { kind: 'unknown', reason: 'its stream ended without the answer' };
  }

  private async reopen(
    lastEventId: string | undefined,
    wait: number,
    progress: Progress,
  ): Promise<IncomingMessage | undefined> {
    if (wait > 0) {
      const waiting = new AbortController();
      progress.cut = () => {
        waiting.abort();
      };
      await delay(wait, waiting.signal).catch(() => undefined);
    }
    if (progress.over || this.options.requests.disposed) return undefined;
    return new Promise((resolve) => {
      const request = this.options.requests.stream(lastEventId);
      progress.cut = () => request.destroy(new Error('nobody waits for it'));
      request.on('error', () => {
        resolve(undefined);
      });
      request.on('response', (response) => {
        if (response.statusCode === 200) {
          resolve(response);
          return;
        }
        discard(response);
        resolve(undefined);
      });
    });
  }

  /** Hands on the whole answer, if it is one to this request: a client that gets another would wait forever. */
  private answer(bytes: Buffer): ExchangeOutcome {
    const { message: asked, sink } = this.options;
    const { reading } = asked;
    if (reading.kind !== 'request') return { kind: 'answered' };
    if (bytes.length === 0) return { kind: 'unknown', reason: 'its answer is empty' };
    if (!isUtf8(bytes)) return { kind: 'unknown', reason: 'its answer is not UTF-8' };
    const text = bytes.toString('utf8');
    const message = parsed(text);
    if (isBatch(message)) return this.batch(message, reading);
    if (typeof message !== 'object' || message === null) return { kind: 'unknown', reason: 'its answer is not JSON' };
    const id = 'id' in message ? message.id : null;
    if (id === null && 'error' in message) {
      const own = JSON.stringify(reading.id);
      sink.json('id' in message ? withId(text, own) : text.replace('{', () => `{"id":${own},`));
      return { kind: 'answered' };
    }
    if (!isDeepStrictEqual(id, reading.id)) return { kind: 'unknown', reason: 'it answered another request than this' };
    if (reading.method === 'initialize') this.initialized(message);
    sink.json(bytes);
    return { kind: 'answered' };
  }

  /** Hands on an answer that comes with other messages. */
  private batch(messages: readonly unknown[], { id, method }: Request): ExchangeOutcome {
    for (const message of messages) {
      const text = JSON.stringify(message);
      if (isResponseTo(id, text)) {
        this.answered = true;
        if (method === 'initialize') this.initialized(message);
      }
      this.options.sink.events(eventOf(text));
    }
    return this.answered ? { kind: 'answered' } : { kind: 'unknown', reason: 'it answered another request than this' };
  }

  private initialized(message: unknown): void {
    this.options.requests.revision = z.safeParse(initializedSchema, message).data?.result.protocolVersion;
  }

  /** What an answer means that is none of success. */
  private refusal({ statusCode: status = 0, headers }: IncomingMessage, bytes: Buffer): Attempt {
    const { opening, message, requests, sink } = this.options;
    const { definition, server, host } = opening;
    const { reading } = message;
    const text = bytes.toString('utf8');
    const refusal = readRefusal({
      ...{ status, location: headers.location, text, url: requests.url },
      hadSession: requests.session !== undefined,
      isAnswer: reading.kind === 'request' && isUtf8(bytes) && isResponseTo(reading.id, text),
    });
    switch (refusal.kind) {
      case 'login':
        if (definition.kind !== 'stdio' && !hasCredentials(definition.headers)) host.wantsLogin();
        return { kind: 'refused', reason: refusal.reason };
      case 'answer':
        sink.json(bytes);
        return { kind: 'answered' };
      case 'request refused':
        if (reading.kind === 'request') {
          const words = `The MCP server "${server}" refused the request: ${refusal.reason}`;
          sink.json(JSON.stringify(rpcError(reading.id, rpcCodes.badRequest, words, { status })));
        }
        return { kind: 'answered' };
      case 'moved':
      case 'session lost':
      case 'refused':
      case 'unknown':
        return refusal;
    }
  }
}
