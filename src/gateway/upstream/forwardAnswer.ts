import type { ServerResponse } from 'node:http';
import { sendJson, sendRaw } from '../http/answers.ts';
import { rpcCodes, type RequestId, rpcError } from '../mcp/jsonRpc.ts';
import { drained } from '../mcp/standingStreams.ts';
import { dataOf, eventOf, EventSplitter, isResponseTo } from './httpEvents.ts';
import type { AnswerSink, ExchangeOutcome } from './upstreamSession.ts';

/** Who waits for an answer, and may stop to. */
export class Waiting {
  private readonly listeners: (() => void)[] = [];
  private over = false;

  get gone(): boolean {
    return this.over;
  }

  onGone(listener: () => void): void {
    if (this.over) listener();
    else this.listeners.push(listener);
  }

  /** The answer is not waited for any longer. */
  giveUp(): void {
    if (this.over) return;
    this.over = true;
    for (const listener of this.listeners) listener();
  }
}

/** So many bytes of an event stream are held back for the rest of it at most. */
const longestHeld = 64 * 1024;

/**
 * The agent's POST as the place where its answer goes. What begins an event stream is held until the input that is there
 * has been read: most streams are whole by then, and go out with their length, in one write.
 */
export class ResponseSink extends Waiting implements AnswerSink {
  private held: Buffer[] = [];
  private heldBytes = 0;

  /** `headers` are of the event stream, besides its own. */
  constructor(
    private readonly response: ServerResponse,
    private readonly headers: Readonly<Record<string, string>>,
  ) {
    super();
    response.on('close', () => {
      if (!response.writableEnded) this.giveUp();
    });
  }

  /** Whether an event stream has begun. */
  get isStream(): boolean {
    return this.response.headersSent || this.held.length > 0;
  }

  json(message: Buffer | string): void {
    sendRaw(this.response, 200, message);
  }

  events(part: Buffer | string): boolean {
    const { response } = this;
    if (response.destroyed || response.writableEnded) return true;
    if (response.headersSent) return response.write(part);
    if (this.held.length === 0) setImmediate(() => this.release());
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    this.held.push(bytes);
    this.heldBytes += bytes.length;
    return this.heldBytes <= longestHeld || this.release();
  }

  drained(): Promise<void> {
    return drained(this.response);
  }

  /**
   * Ends the answer to the request `id` as its exchange ended. An error is one of JSON-RPC: a status of HTTP would tell
   * the client that its endpoint fails, and 401 would send it into an OAuth registration.
   */
  conclude(id: RequestId, outcome: ExchangeOutcome, server: string): void {
    const { response } = this;
    if (response.writableEnded || response.destroyed) return;
    if (outcome.kind !== 'answered') {
      const error = outcomeError(id, outcome, server);
      if (this.isStream) this.end(eventOf(JSON.stringify(error)));
      else sendJson(response, 200, error);
    } else if (this.isStream) {
      this.end();
    } else {
      sendJson(response, 200, rpcError(id, rpcCodes.requestCancelled, 'Request cancelled'));
    }
  }

  /** Ends the event stream. */
  end(lastEvent = ''): void {
    const { response } = this;
    if (response.headersSent || this.held.length === 0) {
      response.end(lastEvent);
      return;
    }
    const whole = Buffer.concat([...this.held.splice(0), Buffer.from(lastEvent)]);
    response.writeHead(200, { ...streamHeaders, ...this.headers, 'content-length': whole.length });
    response.end(whole);
  }

  /** False: the connection is full. */
  private release(): boolean {
    const { response } = this;
    const held = this.held.splice(0);
    if (held.length === 0 || response.destroyed || response.writableEnded) return true;
    response.writeHead(200, { ...streamHeaders, ...this.headers });
    return response.write(Buffer.concat(held));
  }
}

const streamHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' };

/** What the agent is told when its request was not answered. */
function outcomeError(
  id: RequestId,
  outcome: Exclude<ExchangeOutcome, { readonly kind: 'answered' }>,
  server: string,
): object {
  const { kind, reason } = outcome;
  const unknown = kind === 'unknown';
  const sentence = unknown
    ? `The MCP server "${server}" did not answer: ${reason}. The outcome is unknown: the request may have been carried out. Check before you repeat it.`
    : `The MCP server "${server}" cannot be reached: ${reason}. The request was not carried out.`;
  return rpcError(id, rpcCodes.badRequest, sentence, { server, outcome: unknown ? 'unknown' : 'not carried out' });
}

/** Keeps the one message that answers a request of the gateway's own, and nothing else. */
export class KeptAnswer extends Waiting implements AnswerSink {
  private readonly splitter = new EventSplitter();
  /** As it came. */
  message: string | undefined;

  constructor(private readonly id: RequestId) {
    super();
  }

  json(message: Buffer | string): void {
    this.message = message.toString();
  }

  events(part: Buffer | string): boolean {
    for (const data of dataOf(this.splitter, part)) if (isResponseTo(this.id, data)) this.message ??= data;
    return true;
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }
}
