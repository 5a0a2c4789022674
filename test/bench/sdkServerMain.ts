// A real MCP server (sdk 1.x) over streamable HTTP, with a session for each client. Prints its port.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createSdkServer } from '../harness/upstreams/sdkServer.ts';

const transports = new Map<string, StreamableHTTPServerTransport>();

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const known = transports.get(String(request.headers['mcp-session-id']));
  await (known ?? (await opened())).handleRequest(request, response);
}

async function opened(): Promise<StreamableHTTPServerTransport> {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      transports.set(id, transport);
    },
  });
  await createSdkServer().server.connect(transport);
  return transport;
}

const server = createServer((request, response) => void serve(request, response));
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(address?.port);
});
