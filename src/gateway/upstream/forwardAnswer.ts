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

/** The agent's POST as the place where its answer goes. */
export class ResponseSink extends Waiting implements AnswerSink {
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

  json(message: Buffer | string): void {
    sendRaw(this.response, 200, message);
  }

  events(part: Buffer | string): boolean {
    const { response } = this;
    if (response.destroyed || response.writableEnded) return true;
    if (!response.headersSent) {
      const own = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' };
      response.writeHead(200, { ...own, ...this.headers });
    }
    return response.write(part);
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
      if (response.headersSent) response.end(eventOf(JSON.stringify(error)));
      else sendJson(response, 200, error);
    } else if (response.headersSent) {
      response.end();
    } else {
      sendJson(response, 200, rpcError(id, rpcCodes.requestCancelled, 'Request cancelled'));
    }
  }
}

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
