import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

/** What a server keeps in its memory, and forgets when it ends. */
export interface SdkServer {
  readonly server: McpServer['server'];
  readonly subscribed: string[];
  readonly levels: string[];
  /** Tools that were run, in order. */
  readonly calls: string[];
  /** Requests that the client took back. */
  readonly cancelled: (string | number)[];
}

const content = (text: string): { content: { type: 'text'; text: string }[] } => ({
  content: [{ type: 'text', text }],
});

/** A real MCP server (sdk 1.x), to be connected to a transport. `tools` more tools than it really has are listed. */
export function createSdkServer(tools = 0): SdkServer {
  const { server } = new McpServer(
    { name: 'sdk-upstream', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} } },
  );
  const kept: SdkServer = { server, subscribed: [], levels: [], calls: [], cancelled: [] };
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      ...['echo', 'hold', 'steps', 'ask', 'large', 'state', 'storm'].map((name) => ({
        name,
        inputSchema: { type: 'object' as const },
      })),
      ...Array.from({ length: tools }, (_, index) => ({
        name: `tool-${index}`,
        description: 'd'.repeat(1000),
        inputSchema: { type: 'object' as const },
      })),
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    kept.calls.push(params.name);
    const { progressToken } = params._meta ?? {};
    switch (params.name) {
      case 'hold':
        await new Promise<void>((resolve) => {
          extra.signal.addEventListener('abort', () => {
            kept.cancelled.push(extra.requestId);
            resolve();
          });
        });
        return content('cancelled');
      case 'steps':
        for (const progress of [1, 2, 3]) {
          if (progressToken === undefined) break;
          await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
        }
        await server.sendLoggingMessage({ level: 'info', data: 'working' });
        return content('done');
      case 'ask': {
        const { roots } = await server.listRoots();
        const sampled = await server.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: 'Say a word.' } }],
          maxTokens: 10,
        });
        return content(JSON.stringify({ roots, sampled: sampled.content }));
      }
      case 'large':
        return content('x'.repeat(Number(params.arguments?.['size'])));
      case 'storm':
        for (let index = 0; index < Number(params.arguments?.['count']); index++) {
          await server.sendLoggingMessage({ level: 'info', data: `${index} ${'y'.repeat(200)}` });
        }
        return content('calm');
      case 'state': {
        const { subscribed, levels, calls, cancelled } = kept;
        return content(JSON.stringify({ pid: process.pid, subscribed, levels, calls, cancelled: cancelled.length }));
      }
      default:
        return content(String(params.arguments?.['text']));
    }
  });
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    kept.subscribed.push(params.uri);
    return {};
  });
  server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
    kept.levels.push(params.level);
    return {};
  });
  return kept;
}
