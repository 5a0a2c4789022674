import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { fetchHandler } from '../fetchHandler.ts';
import { PortServer } from '../portServer.ts';

type Server = McpServer['server'];

/** A real MCP server (server 2.x) that knows one of the revisions with sessions, and no other. */
export function createOlderServer(revision: string): Server {
  const { server } = new McpServer(
    { name: 'older-upstream', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } }, supportedProtocolVersions: [revision] },
  );
  server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }));
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: String(params.arguments?.['text']) }],
  }));
  return server;
}

/** One of them over streamable HTTP, with sessions; it can be killed and started again on its port. */
export class OlderUpstream {
  /** Revisions that requests named after the handshake. */
  readonly named = new Set<string | undefined>();
  private readonly sessions = new Map<
    string,
    { server: Server; transport: WebStandardStreamableHTTPServerTransport }
  >();
  private readonly serve = fetchHandler((request) => this.handle(request));
  private readonly http = new PortServer((request, response) => {
    if (request.headers['mcp-session-id'] !== undefined) this.named.add(revisionOf(request));
    void this.serve(request, response);
  });

  private constructor(private readonly revision: string) {}

  static async start(revision: string): Promise<OlderUpstream> {
    const upstream = new OlderUpstream(revision);
    await upstream.http.start();
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.http.port}/mcp`;
  }

  /** Servers of its sessions. */
  get servers(): readonly Server[] {
    return [...this.sessions.values()].map(({ server }) => server);
  }

  async kill(): Promise<void> {
    this.sessions.clear();
    await this.http.kill();
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.http.start();
  }

  private async handle(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const known = this.sessions.get(id ?? '');
    if (known !== undefined) return known.transport.handleRequest(request);
    if (id !== null) return new Response('Session not found', { status: 404 });
    const server = createOlderServer(this.revision);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => {
        this.sessions.set(session, { server, transport });
      },
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  }
}

function revisionOf({ headers }: IncomingMessage): string | undefined {
  const revision = headers['mcp-protocol-version'];
  return typeof revision === 'string' ? revision : undefined;
}
