import type { IncomingMessage, ServerResponse } from 'node:http';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { PortServer } from '../portServer.ts';
import { createSdkServer, type SdkServer } from './sdkServer.ts';

/* eslint-disable-next-line @typescript-eslint/no-deprecated -- servers that are in use have it */
class LegacyTransport extends SSEServerTransport {}

/** A real MCP server (sdk 1.x) over HTTP with SSE of revision 2024-11-05, which can be killed and started on its port. */
export class SseUpstream {
  /** By session, oldest first. */
  readonly servers: SdkServer[] = [];
  /** Paths and headers of what was asked, in order. */
  readonly seen: { readonly verb: string; readonly token: string | undefined }[] = [];
  private readonly transports = new Map<string, LegacyTransport>();
  private readonly http = new PortServer((request, response) => void this.handle(request, response));

  static async start(): Promise<SseUpstream> {
    const upstream = new SseUpstream();
    await upstream.start();
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.http.port}/sse`;
  }

  start(): Promise<void> {
    return this.http.start();
  }

  async kill(): Promise<void> {
    this.transports.clear();
    await this.http.kill();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const token = request.headers['x-token'];
    this.seen.push({ verb: request.method ?? '', token: typeof token === 'string' ? token : undefined });
    if (pathname === '/sse') {
      const transport = new LegacyTransport('/messages', response);
      const kept = createSdkServer();
      this.servers.push(kept);
      this.transports.set(transport.sessionId, transport);
      await kept.server.connect(transport);
      return;
    }
    const transport = this.transports.get(searchParams.get('sessionId') ?? '');
    if (transport === undefined) response.writeHead(404).end('Session not found');
    else await transport.handlePostMessage(request, response);
  }
}
