// A stand-in for an MCP server that takes next to no time itself: it knows `initialize` and the tool `echo`, and answers as
// the SDK's servers do, by an event stream. One of the SDK takes longer for a call than two proxies, and would hide them.
// Prints its port.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';

const messageSchema = z.object({
  id: z.optional(z.number()),
  method: z.string(),
  params: z.optional(
    z.object({
      protocolVersion: z.optional(z.string()),
      arguments: z.optional(z.object({ text: z.string() })),
    }),
  ),
});

function resultOf({ method, params }: z.infer<typeof messageSchema>): object {
  if (method !== 'initialize') return { content: [{ type: 'text', text: params?.arguments?.text }] };
  const { protocolVersion } = params ?? {};
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'quick', version: '1' } };
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  void text(request).then((body) => {
    const message = messageSchema.parse(JSON.parse(body));
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      ...(message.method === 'initialize' && { 'mcp-session-id': randomUUID() }),
    });
    const answer = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) });
    response.end(`event: message\ndata: ${answer}\n\n`);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(address?.port);
});
