import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod/mini';
import { PortServer } from '../harness/portServer.ts';

const methodSchema = z.object({ method: z.string() });

/** An MCP server of the public library with one tool `hello`, as a person's own would be: no Bowline is in it. */
export class PlainServer {
  private readonly listings = new Map<string, number>();
  private transports = new Map<string, StreamableHTTPServerTransport>();
  private readonly http = new PortServer((request, response) => {
    this.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  private constructor() {}

  static async start(): Promise<PlainServer> {
    const plain = new PlainServer();
    await plain.open();
    return plain;
  }

  /** What `--mcp-config` gets so that `listedAt(name)` knows the client. */
  configurationFor(name: string): string {
    const url = `http://127.0.0.1:${this.http.port}/mcp`;
    const headers = { 'X-Agent-Name': name, Authorization: 'Bearer of-no-use' };
    return JSON.stringify({ mcpServers: { small: { type: 'http', url, headers } } });
  }

  /** When this client asked for the tools first since {@link forget}, by `performance.now()`. */
  listedAt(name: string): number | undefined {
    return this.listings.get(name);
  }

  forget(): void {
    this.listings.clear();
  }

  /** Listens, after {@link close} on the same port and without any of the former sessions. */
  open(): Promise<void> {
    return this.http.start();
  }

  /** Nobody listens any more, and all connections are reset. */
  async close(): Promise<void> {
    const { transports } = this;
    this.transports = new Map();
    for (const transport of transports.values()) await transport.close();
    await this.http.kill();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = request.method === 'POST' ? await json(request) : undefined;
    const known = this.transports.get(String(request.headers['mcp-session-id']));
    const transport = known ?? (await this.connect());
    await transport.handleRequest(request, response, body);
    const name = String(request.headers['x-agent-name']);
    if (methodSchema.safeParse(body).data?.method !== 'tools/list' || this.listings.has(name)) return;
    this.listings.set(name, performance.now());
  }

  private async connect(): Promise<StreamableHTTPServerTransport> {
    const { transports } = this;
    const server = new McpServer({ name: 'small', version: '1.0.0' });
    server.registerTool('hello', { description: 'Says hello.' }, () => ({
      content: [{ type: 'text', text: 'hello' }],
    }));
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        transports.set(id, transport);
      },
    });
    await server.connect(transport);
    return transport;
  }
}
