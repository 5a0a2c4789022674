import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** An MCP server over streamable HTTP, and what its client must say of itself. */
export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const protocolVersion = '2025-06-18';

/**
 * A client of MCP that can do no more than call the tool `echo`, on one connection. It is no library's, because these take
 * longer for a call than what is measured. Reads whole answers, and throws at one that is not the right one.
 */
export class CallClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private session: Readonly<Record<string, string>> = {};
  private lastId = 0;

  private constructor(private readonly target: Target) {}

  static async connect(target: Target): Promise<CallClient> {
    const client = new CallClient(target);
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
    const { headers } = await client.post({ jsonrpc: '2.0', id: ++client.lastId, method: 'initialize', params });
    const id = headers['mcp-session-id'];
    client.session = {
      'mcp-protocol-version': protocolVersion,
      ...(typeof id === 'string' && { 'mcp-session-id': id }),
    };
    await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return client;
  }

  /** Another connection in the same session. Both must not call under the same ids: `number` is unlike all others. */
  beside(number: number): CallClient {
    const client = new CallClient(this.target);
    client.session = this.session;
    client.lastId = number * 10_000_000;
    return client;
  }

  async call(): Promise<void> {
    const id = ++this.lastId;
    const words = `words that come back ${id}`;
    const params = { name: 'echo', arguments: { text: words } };
    const { text } = await this.post({ jsonrpc: '2.0', id, method: 'tools/call', params });
    if (!text.includes(`"id":${id}`) || !text.includes(`"text":"${words}"`)) throw new Error(`wrong answer: ${text}`);
  }

  close(): void {
    this.agent.destroy();
  }

  private post(message: object): Promise<{ readonly headers: IncomingHttpHeaders; readonly text: string }> {
    const { port, path, headers } = this.target;
    const body = JSON.stringify(message);
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          ...{ host: '127.0.0.1', port, path, method: 'POST', agent: this.agent },
          headers: {
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            'content-length': body.length,
            ...headers,
            ...this.session,
          },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => (text += part));
          response.on('error', reject);
          response.on('end', () => {
            const { statusCode = 0 } = response;
            if (statusCode < 300) resolve({ headers: response.headers, text });
            else reject(new Error(`${path} answered ${statusCode} ${text}`));
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
}

/** Milliseconds of each of `count` calls, one after another. */
export async function callInTurn(client: CallClient, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const started = performance.now();
    await client.call();
    times.push(performance.now() - started);
  }
  return times;
}

/** Calls per second when each client makes `each` calls, one after another, and all at once. */
export async function callAtOnce(clients: readonly CallClient[], each: number): Promise<number> {
  const started = performance.now();
  await Promise.all(clients.map((client) => callInTurn(client, each)));
  return (clients.length * each * 1000) / (performance.now() - started);
}
