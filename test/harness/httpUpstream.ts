import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { PortServer } from './portServer.ts';

export interface HttpUpstreamOptions {
  /** What a session that it does not know is answered with. Default: 404, as the specification has it. */
  readonly lostStatus?: 400 | 404 | 503;
  /** Answers with JSON where it can. Default: event streams. */
  readonly json?: boolean;
  /** Events have ids, and streams can be resumed. */
  readonly resumable?: boolean;
  /** Every request is answered with this status, as a server behind a login does. */
  readonly refuse?: number;
}

/** One HTTP request that reached the upstream. */
export interface SeenRequest {
  readonly verb: string;
  /** Of the JSON-RPC message; for other verbs, and responses, empty. */
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly remotePort: number;
}

type Server = McpServer['server'];

interface Session {
  readonly server: Server;
  readonly transport: StreamableHTTPServerTransport;
}

const lostTexts = {
  400: 'Bad Request: No valid session ID provided',
  404: 'Session not found',
  503: 'Service restarting, unknown session',
} as const;

/** Keeps every event; the store among the SDK's examples replays none of the standing stream. */
export function keptEvents(): EventStore {
  const events: { readonly stream: string; readonly message: Parameters<EventStore['storeEvent']>[1] }[] = [];
  return {
    storeEvent: (stream, message) => Promise.resolve(String(events.push({ stream, message }))),
    replayEventsAfter: async (lastEventId, { send }) => {
      const stream = events[Number(lastEventId) - 1]?.stream ?? '';
      for (const [index, event] of events.entries()) {
        if (index >= Number(lastEventId) && event.stream === stream) await send(String(index + 1), event.message);
      }
      return stream;
    },
  };
}

/** A real MCP server (sdk 1.x) over streamable HTTP, which can be killed and started again on its port. */
export class HttpUpstream {
  readonly seen: SeenRequest[] = [];
  /** Tools that were run, in order. */
  readonly calls: string[] = [];
  readonly levels: string[] = [];
  readonly subscribed: string[] = [];
  /** Calls that wait for {@link release}. */
  held = 0;
  release: () => void = () => undefined;
  private readonly sessions = new Map<string, Session>();
  private readonly http = new PortServer((request, response) => void this.handle(request, response));

  constructor(readonly options: HttpUpstreamOptions = {}) {}

  static async start(options: HttpUpstreamOptions = {}): Promise<HttpUpstream> {
    const upstream = new HttpUpstream(options);
    await upstream.start();
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.http.port}/mcp`;
  }

  get initialisations(): number {
    return this.seen.filter(({ method }) => method === 'initialize').length;
  }

  /** Sessions by which clients are served now. */
  get servers(): readonly Server[] {
    return [...this.sessions.values()].map(({ server }) => server);
  }

  start(): Promise<void> {
    return this.http.start();
  }

  /** As a kill does: connections are cut, and nothing is remembered. */
  async kill(): Promise<void> {
    this.sessions.clear();
    await this.http.kill();
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = request.method === 'POST' ? JSON.parse(await text(request)) : undefined;
    const method = typeof body === 'object' && body !== null && 'method' in body ? String(body.method) : '';
    this.seen.push({
      ...{ verb: request.method ?? '', method, headers: request.headers },
      remotePort: request.socket.remotePort ?? 0,
    });
    const { refuse, lostStatus = 404 } = this.options;
    if (refuse !== undefined) {
      response.writeHead(refuse).end('no');
      return;
    }
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? this.sessions.get(id) : undefined;
    if (known === undefined && method !== 'initialize') {
      const error = { jsonrpc: '2.0', error: { code: -32000, message: lostTexts[lostStatus] }, id: null };
      response.writeHead(lostStatus, { 'content-type': 'application/json' }).end(JSON.stringify(error));
      return;
    }
    const { transport } = known ?? (await this.open());
    await transport.handleRequest(request, response, body);
  }

  private async open(): Promise<Session> {
    const { json, resumable } = this.options;
    const server = this.createServer();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.sessions.set(id, session);
      },
      onsessionclosed: (id) => {
        this.sessions.delete(id);
      },
      enableJsonResponse: json === true,
      ...(resumable === true && { eventStore: keptEvents() }),
    });
    const session = { server, transport };
    await server.connect(transport);
    return session;
  }

  private createServer(): Server {
    const { server } = new McpServer(
      { name: 'http-upstream', version: '1.0.0' },
      {
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          logging: {},
          completions: {},
        },
        instructions: 'Instructions of the upstream.',
      },
    );
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: ['echo', 'hold', 'ask', 'steps', 'large'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
      this.calls.push(params.name);
      const result = (words: string): { content: { type: 'text'; text: string }[] } => ({
        content: [{ type: 'text', text: words }],
      });
      switch (params.name) {
        case 'hold':
          this.held++;
          await new Promise<void>((resolve) => (this.release = resolve));
          return result('released');
        case 'steps': {
          const { progressToken } = params._meta ?? {};
          for (const progress of [1, 2, 3]) {
            if (progressToken === undefined) break;
            await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
          }
          await server.sendLoggingMessage({ level: 'info', data: 'working' }, extra.sessionId);
          return result('done');
        }
        case 'ask': {
          const sampled = await server.createMessage(
            { messages: [{ role: 'user', content: { type: 'text', text: 'Say a word.' } }], maxTokens: 10 },
            { relatedRequestId: extra.requestId },
          );
          const elicited = await server.elicitInput(
            { message: 'Which?', requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } } },
            { relatedRequestId: extra.requestId },
          );
          const { roots } = await server.listRoots({}, { relatedRequestId: extra.requestId });
          return result(JSON.stringify({ sampled: sampled.content, elicited, roots }));
        }
        case 'large':
          return result('x'.repeat(Number(params.arguments?.['size'])));
        default:
          return result(String(params.arguments?.['text']));
      }
    });
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: 'note://one', name: 'one' }] }));
    server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => ({
      contents: [{ uri: params.uri, text: `text of ${params.uri}` }],
    }));
    server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
      this.subscribed.push(params.uri);
      return {};
    });
    server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
      this.subscribed.splice(this.subscribed.indexOf(params.uri), 1);
      return {};
    });
    server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
      this.levels.push(params.level);
      return {};
    });
    server.setRequestHandler(CompleteRequestSchema, ({ params }) => ({
      completion: { values: [`${params.argument.value}-completed`] },
    }));
    server.fallbackRequestHandler = ({ method, params }) => Promise.resolve({ method, params: params ?? {} });
    return server;
  }
}
