import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { keyOf } from './mcpFleet.ts';
import { waitFor } from './waitFor.ts';

/** One HTTP request as it goes over the wire; nothing is added but `Host`. */
export interface WireRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown;
}

/** The headers by which an agent is known. */
export function identityOf(name: string, launchId = `${name}.1`): Record<string, string> {
  return { 'x-agent-name': name, 'x-agent-launch': launchId, authorization: `Bearer ${keyOf(name)}` };
}

/** Sends one request on a connection of its own and reads the whole answer. */
export async function wire(port: number, options: WireRequest): Promise<WireAnswer> {
  const response = await open(port, options);
  const body = await text(response);
  return { status: response.statusCode ?? 0, headers: response.headers, body, json: parsed(body) };
}

/** An open event stream, as far as it was read. */
export interface WireStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  text(): string;
  ended(): boolean;
  /** The messages so far. */
  messages(): readonly Record<string, unknown>[];
  /** Waits for the first message with this method. */
  message(method: string): Promise<Record<string, unknown>>;
  /** Reads nothing more until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Cuts the connection. */
  cut(): void;
}

/** Opens a GET stream and reads it as it comes. */
export async function wireStream(port: number, options: WireRequest): Promise<WireStream> {
  const response = await open(port, { method: 'GET', ...options });
  let received = '';
  let ended = false;
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => (received += chunk));
  response.on('error', () => (ended = true));
  response.on('close', () => (ended = true));
  const messages = (): Record<string, unknown>[] =>
    received
      .split('\n\n')
      .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
      .map((data) => JSON.parse(data) as unknown)
      .filter((value): value is Record<string, unknown> => typeof value === 'object' && value !== null);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => received,
    ended: () => ended,
    messages,
    message: (method) =>
      waitFor(`a message ${method} on the stream`, () => messages().find((message) => message['method'] === method)),
    pause: () => response.pause(),
    resume: () => response.resume(),
    cut: () => response.destroy(),
  };
}

function open(port: number, options: WireRequest): Promise<IncomingMessage> {
  const { method = 'POST', path = '/mcp/bowline-self', headers = {}, body } = options;
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    outgoing.on('error', reject);
    outgoing.on('response', resolve);
    outgoing.end(payload);
  });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

/** An MCP client by hand: no retries, no recovery, so that a test sees each answer. */
export class WireClient {
  private lastId = 0;

  constructor(
    readonly port: number,
    readonly name: string,
    readonly session: string,
    readonly launchId = `${name}.1`,
  ) {}

  /** Shakes hands as Claude does, without the stream. */
  static async initialize(
    port: number,
    name: string,
    options: { readonly launchId?: string; readonly client?: string; readonly version?: string } = {},
  ): Promise<WireClient> {
    const launchId = options.launchId ?? `${name}.1`;
    const answer = await wire(port, {
      headers: identityOf(name, launchId),
      body: initializeRequest(options.version ?? '2.1.332', options.client),
    });
    const session = answer.headers['mcp-session-id'];
    if (typeof session !== 'string') throw new Error(`no session: ${answer.status} ${answer.body}`);
    const client = new WireClient(port, name, session, launchId);
    await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return client;
  }

  headers(): Record<string, string> {
    return {
      ...identityOf(this.name, this.launchId),
      'mcp-session-id': this.session,
      'mcp-protocol-version': '2025-11-25',
    };
  }

  post(body: unknown): Promise<WireAnswer> {
    return wire(this.port, { headers: this.headers(), body });
  }

  request(method: string, params?: unknown): Promise<WireAnswer> {
    return this.post({ jsonrpc: '2.0', id: ++this.lastId, method, ...(params !== undefined && { params }) });
  }

  call(tool: string, input: object = {}): Promise<WireAnswer> {
    return this.request('tools/call', { name: tool, arguments: input });
  }

  stream(): Promise<WireStream> {
    return wireStream(this.port, { headers: this.headers() });
  }

  delete(): Promise<WireAnswer> {
    return wire(this.port, { method: 'DELETE', headers: this.headers() });
  }
}

/** The `initialize` of Claude of a version. */
export function initializeRequest(version = '2.1.332', client = 'claude-code', protocolVersion = '2025-11-25'): object {
  return {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion, capabilities: { roots: {} }, clientInfo: { name: client, version } },
  };
}
