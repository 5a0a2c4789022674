import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '../base/log.ts';
import { streamPath } from '../protocol/stream.ts';
import type { AdminApi } from './adminApi.ts';
import type { HookIntake } from './hookIntake.ts';
import { sendError } from './http/answers.ts';
import { checkEdges, isDiscoveryPath } from './http/checks.ts';
import { FailureLimit } from './http/failureLimit.ts';
import { keyShown } from './http/strangers.ts';
import type { McpEndpoint } from './mcp/endpoint.ts';
import type { Windows } from './windows.ts';

/** Where a {@link Router} sends requests. */
export interface RouterOptions {
  readonly port: number;
  readonly mcp: McpEndpoint;
  readonly hooks: HookIntake;
  readonly admin: AdminApi;
  readonly windows: Windows;
  readonly log: Log;
}

const mcpPath = /^\/mcp\/([^/]+)\/?$/;
const hookPath = /^\/agents\/([^/]+)\/session$/;

/** The one way in: the edges are checked before anything else looks at a request. */
export class Router {
  private readonly refused = new FailureLimit();

  constructor(private readonly options: RouterOptions) {}

  /** Answers a request; every answer is JSON or an event stream. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes away is no error.
    response.on('error', () => undefined);
    const refusal = checkEdges(request, this.options.port);
    if (refusal !== undefined) {
      // A web page may ask as often as it likes.
      if (this.refused.failed(refusal.code) === undefined) {
        this.options.log.warn('a request was refused at the edge', { code: refusal.code });
      }
      sendError(response, refusal.status, refusal.code, refusal.sentence);
      return;
    }
    const url = urlOf(request);
    if (url === undefined) {
      sendError(response, 400, 'bad-request', 'The address of the request is not a path in its plain form.');
      return;
    }
    const server = mcpPath.exec(url.pathname)?.[1];
    const agent = hookPath.exec(url.pathname)?.[1];
    if (server !== undefined) {
      await this.options.mcp.handle(request, response, decoded(server));
    } else if (agent !== undefined && request.method === 'POST') {
      await this.options.hooks.handle(request, response, decoded(agent));
    } else if (isDiscoveryPath(url.pathname) || url.pathname.startsWith('/mcp')) {
      sendError(response, 404, 'unknown-route', 'The gateway has nothing there. It uses no OAuth.');
    } else {
      await this.options.admin.handle(request, response, url);
    }
  }

  /** Takes the stream of a window, or refuses the upgrade with a plain HTTP answer. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => undefined);
    const refusal = checkEdges(request, this.options.port);
    if (refusal !== undefined) {
      refuseUpgrade(socket, '403 Forbidden', refusal.code, refusal.sentence);
    } else if (urlOf(request)?.pathname !== streamPath) {
      refuseUpgrade(socket, '404 Not Found', 'unknown-route', `The stream is at ${streamPath}.`);
    } else if (!this.options.admin.authorizes(request)) {
      const sentence = 'The token is missing or wrong. It stands in endpoint.json of the state directory.';
      refuseUpgrade(socket, '401 Unauthorized', 'unauthorized', sentence);
    } else {
      keyShown(request);
      this.options.windows.accept(request, socket, head);
      return;
    }
    if (this.refused.failed('upgrade') === undefined) {
      this.options.log.warn('an upgrade was refused', { path: request.url?.slice(0, 100) });
    }
  }
}

/**
 * The path and query of a request; undefined for what is none (RFC 9112, 3.2: `*`, an authority), and for a path that
 * would be read as another one (`..`, `%2e%2e`, a backslash): clients send it as it is meant.
 */
function urlOf({ url = '/' }: IncomingMessage): URL | undefined {
  const text = `http://127.0.0.1${url}`;
  if (!url.startsWith('/') || !URL.canParse(text)) return undefined;
  const read = new URL(text);
  const query = url.indexOf('?');
  return read.pathname === (query < 0 ? url : url.slice(0, query)) ? read : undefined;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function refuseUpgrade(socket: Duplex, status: string, code: string, sentence: string): void {
  const body = JSON.stringify({ error: { code, sentence } });
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  // The server has let go of this connection: nobody else would close it for a client that does not.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
