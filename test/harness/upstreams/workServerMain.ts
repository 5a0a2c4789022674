// A real MCP server (sdk 1.x) with one tool that has a side effect: `work` writes down that it is run, at once, waits, and
// answers with the value that it was given and the agent that it is run for.
// Arguments: the directory of its files, then `stdio`, or `network`, a port and the status for a session that is not known.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/* eslint-disable-next-line @typescript-eslint/no-deprecated -- servers that are in use have it */
class LegacyTransport extends SSEServerTransport {}

const [directory = '', kind = '', port = '', lostStatus = ''] = process.argv.slice(2);

function serverFor(agent: string): McpServer['server'] {
  const { server } = new McpServer(
    { name: 'work', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'work', inputSchema: { type: 'object' as const } }],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
    const { id, value, milliseconds } = params.arguments ?? {};
    appendFileSync(join(directory, 'effects'), `${String(id)} ${agent}\n`);
    const progressToken = params._meta?.progressToken;
    if (progressToken !== undefined) {
      const progress = { progressToken, progress: 1, message: String(id) };
      await sendNotification({ method: 'notifications/progress', params: progress });
    }
    await delay(Number(milliseconds));
    return { content: [{ type: 'text', text: JSON.stringify({ id, value, agent }) }] };
  });
  return server;
}

const byHttp = new Map<string, StreamableHTTPServerTransport>();
const bySse = new Map<string, LegacyTransport>();

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const agent = String(request.headers['x-agent']);
  if (pathname === '/sse') {
    const transport = new LegacyTransport('/messages', response);
    bySse.set(transport.sessionId, transport);
    await serverFor(agent).connect(transport);
    return;
  }
  if (pathname === '/messages') {
    const transport = bySse.get(searchParams.get('sessionId') ?? '');
    if (transport === undefined) response.writeHead(404).end('Session not found');
    else await transport.handlePostMessage(request, response);
    return;
  }
  const body: unknown = request.method === 'POST' ? JSON.parse(await text(request)) : undefined;
  const known = byHttp.get(String(request.headers['mcp-session-id']));
  const begins = typeof body === 'object' && body !== null && 'method' in body && body.method === 'initialize';
  if (known === undefined && !begins) {
    const error = { jsonrpc: '2.0', error: { code: -32000, message: 'No valid session ID provided' }, id: null };
    response.writeHead(Number(lostStatus), { 'content-type': 'application/json' }).end(JSON.stringify(error));
    return;
  }
  await (known ?? (await opened(agent))).handleRequest(request, response, body);
}

async function opened(agent: string): Promise<StreamableHTTPServerTransport> {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      byHttp.set(id, transport);
    },
    onsessionclosed: (id) => {
      byHttp.delete(id);
    },
  });
  await serverFor(agent).connect(transport);
  return transport;
}

if (kind === 'stdio') {
  const agent = String(process.env['BOWLINE_AGENT']);
  appendFileSync(join(directory, 'stdio-servers'), `${process.pid} ${agent}\n`);
  void serverFor(agent).connect(new StdioServerTransport());
} else {
  createServer((request, response) => void handle(request, response)).listen(Number(port), '127.0.0.1');
}
