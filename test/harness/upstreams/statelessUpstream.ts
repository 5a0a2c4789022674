import type { IncomingMessage } from 'node:http';
import { createMcpHandler, type McpHttpHandler, type McpServerFactory } from '@modelcontextprotocol/server';
import { fetchHandler } from '../fetchHandler.ts';
import { PortServer } from '../portServer.ts';
import { createStatelessServer, type Seen } from './statelessServer.ts';

/** One HTTP request that reached the upstream. */
export interface StatelessRequest {
  readonly verb: string;
  readonly headers: IncomingMessage['headers'];
}

/** A real MCP server (server 2.x) of revision 2026-07-28 over streamable HTTP, which can be killed and started again. */
export class StatelessUpstream {
  readonly requests: StatelessRequest[] = [];
  readonly seen: Seen = { calls: [], cancelled: 0, clients: new Set() };
  private handler: McpHttpHandler;
  private readonly serve = fetchHandler((request) => this.handler.fetch(request));
  private readonly http = new PortServer((request, response) => {
    this.requests.push({ verb: request.method ?? '', headers: request.headers });
    void this.serve(request, response);
  });

  private constructor(
    private readonly legacy: 'reject' | 'stateless',
    private readonly create: McpServerFactory | undefined,
  ) {
    this.handler = this.createHandler();
  }

  /** `legacy`: whether it knows the revisions before as well. `create`: another server than {@link createStatelessServer}. */
  static async start(legacy: 'reject' | 'stateless' = 'reject', create?: McpServerFactory): Promise<StatelessUpstream> {
    const upstream = new StatelessUpstream(legacy, create);
    await upstream.http.start();
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.http.port}/mcp`;
  }

  /** Tells those who listen of changes. */
  get notify(): McpHttpHandler['notify'] {
    return this.handler.notify;
  }

  /** Methods of the requests by the header that names them. */
  get methods(): readonly string[] {
    return this.requests.map(({ headers }) => String(headers['mcp-method']));
  }

  async kill(): Promise<void> {
    await this.http.kill();
    await this.handler.close();
  }

  async restart(): Promise<void> {
    await this.kill();
    this.handler = this.createHandler();
    await this.http.start();
  }

  private createHandler(): McpHttpHandler {
    return createMcpHandler(this.create ?? (() => createStatelessServer(this.seen)), { legacy: this.legacy });
  }
}
