import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import type { Disposable } from '../../base/lifecycle.ts';
import { lowerCase } from './httpFailure.ts';
import type { HttpPool } from './httpPool.ts';

/** What a person's headers never set: how a message is framed, and what holds for the connection alone. */
const framing: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'expect', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

export interface HttpRequestsOptions {
  readonly pool: Pick<HttpPool, 'agentFor'>;
  readonly url: URL;
  /** What the person's configuration wants to be sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of a session that is gone on with. */
  readonly session: string | undefined;
  readonly revision: string | undefined;
}

/** Makes the requests of one session of an upstream, and knows which are open. */
export class HttpRequests implements Disposable {
  /** Where the upstream is; another than in its definition when it has redirected. */
  url: URL;
  /** `Mcp-Session-Id`, once the upstream has given one. */
  session: string | undefined;
  /** `MCP-Protocol-Version`, once it is settled. */
  revision: string | undefined;
  private readonly open = new Set<ClientRequest>();
  private readonly headers: Readonly<Record<string, string>>;
  /** What Node makes of {@link url}: not for each request anew. */
  private target: { readonly url: URL; readonly options: ReturnType<typeof urlToHttpOptions> } | undefined;
  private isOver = false;

  constructor(private readonly options: HttpRequestsOptions) {
    this.url = options.url;
    this.session = options.session;
    this.revision = options.revision;
    const headers = Object.entries(lowerCase(options.headers));
    this.headers = Object.fromEntries(headers.filter(([name]) => !framing.has(name)));
  }

  /** Begins a request, which the caller ends. Throws what Node throws for a header that cannot be sent. */
  begin(
    method: string,
    headers: Readonly<Record<string, string | number>>,
    session: string | undefined = this.session,
  ): ClientRequest {
    const begin = this.url.protocol === 'https:' ? httpsRequest : httpRequest;
    if (this.target?.url !== this.url) this.target = { url: this.url, options: urlToHttpOptions(this.url) };
    const request = begin({
      ...this.target.options,
      method,
      agent: this.options.pool.agentFor(this.url),
      headers: {
        accept: 'application/json, text/event-stream',
        ...headers,
        ...(this.revision !== undefined && { 'mcp-protocol-version': this.revision }),
        ...this.headers,
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
    });
    // Without a listener such an answer would be no answer and no error.
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      request.emit('error', new Error('it wants to speak another protocol (HTTP 101)'));
    });
    this.open.add(request);
    request.on('close', () => this.open.delete(request));
    return request;
  }

  /** Asks for the standing stream; after the event `lastEventId` also for that of a request. */
  stream(lastEventId: string | undefined): ClientRequest {
    const request = this.begin('GET', {
      accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    });
    request.on('socket', (socket) => socket.setKeepAlive(true, 15_000));
    request.end();
    return request;
  }

  get disposed(): boolean {
    return this.isOver;
  }

  dispose(): void {
    this.isOver = true;
    for (const request of this.open) request.destroy(new Error('the session of the agent has ended'));
  }
}
