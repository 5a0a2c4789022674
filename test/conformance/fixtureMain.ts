// The upstream of `npm run conformance`, over streamable HTTP with resumable streams. Prints its port; ends with its
// standard input.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { keptEvents } from '../harness/httpUpstream.ts';
import { createFixtureServer } from './fixtureServer.ts';

const sessions = new Map<string, StreamableHTTPServerTransport>();

/** How soon a client shall come back to a stream that was closed before its answer. */
const retryInterval = 100;

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!isLocal(request.headers.host) || !isLocal(request.headers.origin?.replace(/^https?:\/\//, ''))) {
    refuse(response, 403, 'Only for this machine.');
    return;
  }
  const id = request.headers['mcp-session-id'];
  if (typeof id !== 'string') {
    await (await open()).handleRequest(request, response, request.method === 'POST' ? await json(request) : undefined);
    return;
  }
  const transport = sessions.get(id);
  if (transport === undefined) refuse(response, 404, 'Session not found');
  else await transport.handleRequest(request, response);
}

/** A transport that knows no session yet answers everything but an initialisation with a 400. */
async function open(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: keptEvents(),
    retryInterval,
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
    },
    onsessionclosed: (id) => {
      sessions.delete(id);
    },
  });
  await createFixtureServer().connect(transport);
  return transport;
}

function isLocal(host: string | undefined): boolean {
  return host === undefined || /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const error = { jsonrpc: '2.0', error: { code: -32000, message }, id: null };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(error));
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    if (response.headersSent) response.destroy();
    else refuse(response, 400, String(error));
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log((server.address() as AddressInfo).port);
});
process.stdin.resume().on('close', () => process.exit(0));
