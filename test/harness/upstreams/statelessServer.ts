import { inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

/** What a server of the stateless revision has seen, over all its requests. */
export interface Seen {
  readonly calls: string[];
  /** Calls whose client was gone. */
  cancelled: number;
  readonly clients: Set<string>;
}

const content = (text: string): { content: { type: 'text'; text: string }[] } => ({
  content: [{ type: 'text', text }],
});

const object = { type: 'object' as const };

/** Asks for all that a client can be asked for, at once, and then for a word more. */
const questions = {
  word: inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: 'Say a word.' } }],
    maxTokens: 10,
  }),
  which: inputRequired.elicit({
    message: 'Which?',
    requestedSchema: { ...object, properties: { answer: { type: 'string' } } },
  }),
  roots: inputRequired.listRoots(),
};

/** A real MCP server (server 2.x) for one request, as the stateless revision has it. */
export function createStatelessServer(seen: Seen): McpServer['server'] {
  const { server } = new McpServer(
    { name: 'stateless-upstream', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: {},
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
      instructions: 'Instructions of the upstream.',
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: [
      ...['echo', 'hold', 'steps', 'ask', 'shed', 'change', 'state'].map((name) => ({ name, inputSchema: object })),
      { name: 'list', inputSchema: object, outputSchema: { type: 'array', items: { type: 'string' } } },
    ],
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const { name, arguments: input = {} } = params;
    seen.calls.push(name);
    seen.clients.add(JSON.stringify(mcpReq.envelope));
    switch (name) {
      case 'hold':
        await new Promise<void>((resolve) => {
          mcpReq.signal.addEventListener('abort', () => {
            seen.cancelled++;
            resolve();
          });
        });
        return content('cancelled');
      case 'steps': {
        const { progressToken } = mcpReq._meta ?? {};
        for (const progress of [1, 2, 3]) {
          if (progressToken === undefined) break;
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
        }
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- servers that are in use have it
        await mcpReq.log('info', 'working');
        return content('done');
      }
      case 'ask': {
        const answers = ['word', 'which', 'roots'].map((key) => inputResponse(mcpReq.inputResponses, key));
        if (answers.some(({ kind }) => kind === 'missing')) {
          return inputRequired({ inputRequests: questions, requestState: 'asked "all"' });
        }
        return content(JSON.stringify({ answers: mcpReq.inputResponses, state: mcpReq.requestState() }));
      }
      case 'shed': // its state alone goes back and forth
        return mcpReq.requestState() === undefined ? inputRequired({ requestState: 'later' }) : content('shed');
      case 'list':
        return { structuredContent: ['a', 'b'] as never, ...content('["a","b"]') };
      case 'change': // for the process that serves one connection, whose changes are its server's
        await server.sendToolListChanged();
        await server.sendResourceUpdated({ uri: 'note://one' });
        return content('changed');
      case 'state':
        return content(JSON.stringify({ pid: process.pid, cancelled: seen.cancelled }));
      default:
        return content(String(input['text']));
    }
  });
  server.setRequestHandler('prompts/list', () => ({ prompts: [{ name: 'greeting' }] }));
  server.setRequestHandler('prompts/get', ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `prompt ${params.name}` } }],
  }));
  server.setRequestHandler('resources/list', () => ({ resources: [{ uri: 'note://one', name: 'one' }] }));
  server.setRequestHandler('resources/read', ({ params }) => ({
    contents: [{ uri: params.uri, text: `text of ${params.uri}` }],
  }));
  server.setRequestHandler('completion/complete', ({ params }) => ({
    completion: { values: [`${params.argument.value}-completed`] },
  }));
  return server;
}

/** One whose tool repeats a parameter in a header, and checks that. */
export function createHeaderServer(): McpServer {
  const server = new McpServer({ name: 'stateless-upstream', version: '1.0.0' });
  server.registerTool(
    'region',
    { inputSchema: z.object({ where: z.string().meta({ 'x-mcp-header': 'Region' }) }) },
    ({ where }) => content(`in ${where}`),
  );
  return server;
}
