import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { delay } from '../../src/base/async.ts';

const messageSchema = z.object({ method: z.optional(z.string()), id: z.optional(z.union([z.string(), z.number()])) });

/** Between two tries; Claude waits for a second and longer. */
const againMs = 200;

/** An MCP client that behaves towards a server as Claude does: it comes back with its session, or with a new one on 404. */
export class StandInClient {
  private readonly agent = new Agent({ keepAlive: true });
  private session: string | undefined;
  private stream: IncomingMessage | undefined;
  private round = 0;
  private lastId = 0;

  constructor(
    readonly name: string,
    private readonly url: string,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** Drops what there is and shakes hands anew. Resolves when it has its tools. Tries until it succeeds. */
  async connect(): Promise<void> {
    const round = ++this.round;
    this.stream?.destroy();
    this.session = undefined;
    while (round === this.round) {
      try {
        const clientInfo = { name: 'claude-code', title: 'Claude Code', version: '2.1.332' };
        const params = { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo };
        await this.post({ jsonrpc: '2.0', id: ++this.lastId, method: 'initialize', params });
        await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
        void this.listen(round);
        await this.post({ jsonrpc: '2.0', id: ++this.lastId, method: 'tools/list' });
        return;
      } catch {
        await delay(againMs);
      }
    }
  }

  dispose(): void {
    this.round += 1;
    this.stream?.destroy();
    this.agent.destroy();
  }

  private async listen(round: number): Promise<void> {
    while (round === this.round) {
      try {
        const stream = await this.send('GET');
        if (stream.statusCode === 404) {
          stream.resume();
          void this.connect();
          return;
        }
        this.stream = stream;
        if (stream.statusCode === 200) await this.answer(stream);
        else stream.resume();
      } catch {
        // It is away: the loop comes back.
      }
      await delay(againMs);
    }
  }

  private async answer(stream: IncomingMessage): Promise<void> {
    let received = '';
    stream.setEncoding('utf8');
    for await (const chunk of stream) {
      received += String(chunk);
      const events = received.split('\n\n');
      received = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data === undefined) continue;
        const { method, id } = messageSchema.parse(JSON.parse(data));
        if (method === 'ping') this.post({ jsonrpc: '2.0', id, result: {} }).catch(() => undefined);
      }
    }
  }

  private async post(body: object): Promise<void> {
    const response = await this.send('POST', body);
    const said = await text(response);
    const { statusCode = 0 } = response;
    if (statusCode >= 300) throw new Error(`${statusCode} ${said}`);
    const session = response.headers['mcp-session-id'];
    if (typeof session === 'string') this.session = session;
  }

  private send(method: string, body?: object): Promise<IncomingMessage> {
    const headers = {
      ...this.headers,
      'user-agent': 'claude-code/2.1.332 (cli)',
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(this.session !== undefined && { 'mcp-session-id': this.session, 'mcp-protocol-version': '2025-11-25' }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(this.url, { method, headers, agent: method === 'GET' ? false : this.agent }, resolve);
      outgoing.on('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
