import { isUtf8 } from 'node:buffer';
import { type Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { beginningOf, discard } from './httpBody.ts';
import { EventSplitter, readEvent } from './httpEvents.ts';
import {
  connectionFailure,
  credentialsRefusal,
  hasCredentials,
  lowerCase,
  reasonOf,
  saysSessionLost,
  statusReason,
} from './httpFailure.ts';
import { longestMessage, type MessagePipe, type PipeFailure, type PipeListener, type PipeOpening } from './pipe.ts';
import { TimeLimit } from './timeLimit.ts';

/** Limits of one attempt, in milliseconds. */
export interface SseTimes {
  /** From the asking for the stream to its `endpoint` event. */
  readonly open: number;
  /** From a POST to its status; the answer to a request comes on the stream. */
  readonly post: number;
}

export const sseTimes: SseTimes = { open: 10_000, post: 60_000 };

const mostMoves = 3;
const shownCharacters = 200;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export interface SsePipeOptions {
  readonly target: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly agentFor: (url: URL) => Agent;
  readonly listener: PipeListener;
  /** Something that was sent is dropped: the predicate of a sentence. */
  readonly dropped: (reason: string) => void;
  /** It asks for credentials (401), and the definition has none. */
  readonly wantsLogin: () => void;
  readonly times?: SseTimes;
}

/** HTTP with SSE of revision 2024-11-05: one event stream per session, which says where messages are to be posted. */
export async function openSsePipe(options: SsePipeOptions): Promise<PipeOpening> {
  let url: URL;
  try {
    url = new URL(options.target.url);
  } catch (error) {
    return { kind: 'refused', reason: reasonOf(error) };
  }
  for (let moves = 0; moves <= mostMoves; moves++) {
    const opening = await open(url, options);
    if (!('movedTo' in opening)) return opening;
    url = opening.movedTo;
  }
  return { kind: 'refused', reason: `it redirects on and on, to ${url.href}` };
}

type Opening = PipeOpening | { readonly movedTo: URL };

function open(url: URL, options: SsePipeOptions): Promise<Opening> {
  return new Promise((resolve) => {
    const times = options.times ?? sseTimes;
    const limit = new TimeLimit(times.open, (milliseconds) => {
      const seconds = Math.round(milliseconds / 1000);
      settle({ kind: 'unreachable', reason: `it opened no event stream within ${seconds} s` });
      stream?.destroy();
    });
    const settle = (opening: Opening): void => {
      limit.dispose();
      resolve(opening);
    };
    let stream: ClientRequest | undefined;
    try {
      stream = begin(url, options, 'GET', { accept: 'text/event-stream', 'cache-control': 'no-cache' });
    } catch (error) {
      settle({ kind: 'refused', reason: reasonOf(error) }); // a header that cannot be sent
      return;
    }
    stream.on('error', (error) => {
      settle(connectionFailure(error));
    });
    stream.on('response', (response) => {
      if (response.statusCode === 401 && !hasCredentials(options.target.headers)) options.wantsLogin();
      const refusal = refusalOf(url, response);
      if (refusal === undefined) {
        new SsePipe({ ...options, url, times }, response, settle);
        return;
      }
      settle(refusal);
      response.destroy();
    });
    stream.end();
  });
}

/** Undefined: it is an event stream. */
function refusalOf(url: URL, { statusCode: status = 0, headers }: IncomingMessage): Opening | undefined {
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    const to = URL.canParse(headers.location, url) ? new URL(headers.location, url) : undefined;
    if (to?.origin === url.origin) return { movedTo: to };
    return { kind: 'refused', reason: `it redirects to another address (HTTP ${status}): ${to?.origin ?? 'none'}` };
  }
  const credentials = credentialsRefusal(status);
  if (credentials !== undefined) return { kind: 'refused', reason: credentials };
  if (status === 429 || status >= 500) return { kind: 'unreachable', reason: `HTTP ${status}` };
  if (status === 200 && /^text\/event-stream/i.test(headers['content-type'] ?? '')) return undefined;
  return { kind: 'refused', reason: `no MCP server with an event stream is at this address (HTTP ${status})` };
}

function begin(
  url: URL,
  { target, agentFor }: Pick<SsePipeOptions, 'target' | 'agentFor'>,
  method: string,
  headers: Readonly<Record<string, string | number>>,
): ClientRequest {
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return start(url, { method, agent: agentFor(url), headers: { ...headers, ...lowerCase(target.headers) } });
}

class SsePipe implements MessagePipe {
  backlog = 0;
  private readonly splitter = new EventSplitter();
  private readonly posts = new Set<ClientRequest>();
  private endpoint: URL | undefined;
  private isFirst = true;
  private isOver = false;

  constructor(
    private readonly options: SsePipeOptions & { readonly url: URL; readonly times: SseTimes },
    private readonly stream: IncomingMessage,
    private readonly settle: (opening: Opening) => void,
  ) {
    stream.socket.setKeepAlive(true, 15_000);
    stream.socket.setTimeout(0);
    stream.on('data', (chunk: Buffer) => {
      const events = this.splitter.push(chunk, longestMessage);
      for (const event of events ?? []) this.read(event);
      if (events === undefined) this.close('one event of its stream is larger than 16 MB');
    });
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.close('its event stream ended');
    });
  }

  async send(message: string): ReturnType<MessagePipe['send']> {
    if (this.isOver) return { kind: 'session lost', reason: 'its event stream is gone' };
    this.backlog += message.length;
    const outcome = await this.post(message);
    this.backlog -= message.length;
    if (outcome.kind === 'session lost') this.close(outcome.reason);
    return outcome;
  }

  pause(): void {
    this.stream.pause();
  }

  resume(): void {
    this.stream.resume();
  }

  dispose(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.stream.destroy();
    for (const post of this.posts) post.destroy();
  }

  private read(raw: Buffer): void {
    if (this.isOver) return;
    const event = this.isFirst && raw.subarray(0, 3).equals(byteOrderMark) ? raw.subarray(3) : raw;
    this.isFirst = false;
    if (!isUtf8(event)) {
      this.options.dropped('is not UTF-8');
      return;
    }
    const { name, data } = readEvent(event);
    if (name === 'endpoint') this.found(data);
    else if (this.endpoint !== undefined && data !== '' && (name === undefined || name === 'message')) {
      // A line break may stand between tokens only: in a string of JSON it is escaped.
      this.options.listener.message(data.replaceAll(/[\r\n]/g, ' '));
    }
  }

  /** Messages hold what only this server may read: none is posted to another origin. */
  private found(data: string): void {
    if (this.endpoint !== undefined) return;
    const { url } = this.options;
    const endpoint = URL.canParse(data, url) ? new URL(data, url) : undefined;
    if (endpoint?.origin !== url.origin) {
      this.settle({
        kind: 'refused',
        reason: `it wants messages to be posted to another address: ${endpoint?.origin ?? data.slice(0, shownCharacters)}`,
      });
      this.dispose();
      return;
    }
    this.endpoint = endpoint;
    this.settle({ kind: 'open', pipe: this });
  }

  private close(reason: string): void {
    if (this.isOver) return;
    this.dispose();
    if (this.endpoint === undefined) this.settle({ kind: 'unreachable', reason });
    else this.options.listener.closed(reason);
  }

  private post(message: string): Promise<{ readonly kind: 'sent' } | PipeFailure> {
    return new Promise((resolve) => {
      const body = Buffer.from(message);
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const request = begin(this.endpoint ?? this.options.url, this.options, 'POST', headers);
      this.posts.add(request);
      // From here on the server may have read the whole message. Without an error before it: nothing less may be repeated.
      let sent = false;
      const limit = new TimeLimit(this.options.times.post, (milliseconds) => {
        settle({ kind: 'unknown', reason: `it did not take a message within ${Math.round(milliseconds / 1000)} s` });
        request.destroy();
      });
      const settle: typeof resolve = (outcome) => {
        limit.dispose();
        this.posts.delete(request);
        resolve(outcome);
      };
      request.on('finish', () => {
        sent = true;
      });
      request.on('error', (error) => {
        settle(sent ? { kind: 'unknown', reason: reasonOf(error) } : connectionFailure(error));
      });
      request.on('response', (response) => {
        const { statusCode: status = 0 } = response;
        if (status >= 200 && status < 300) {
          discard(response);
          settle({ kind: 'sent' });
          return;
        }
        void beginningOf(response).then((text) => {
          settle(postFailure(status, text));
        });
      });
      request.end(body);
    });
  }
}

function postFailure(status: number, text: string): PipeFailure {
  const reason = statusReason(status, text);
  if (saysSessionLost(status, true, text)) return { kind: 'session lost', reason };
  const credentials = credentialsRefusal(status);
  if (credentials !== undefined) return { kind: 'refused', reason: credentials };
  return { kind: status >= 500 ? 'unknown' : 'refused', reason };
}
