import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod/mini';

/** What can be kept from the gateway: an MCP method, or the request for the standing stream. */
export type Held = 'initialize' | 'tools/list' | 'standing stream';

const messageSchema = z.object({ method: z.optional(z.string()) });

/**
 * A port between a client and the gateway. Everything passes as it is, but requests of the kind that is held are taken
 * and never answered, so that a client can be met at a moment that is over in milliseconds otherwise.
 */
export class HeldWire {
  /** Requests of this kind are held from now on. */
  hold: Held | undefined;
  /** The launches of which one was. */
  readonly held = new Set<string>();

  private constructor(
    private readonly server: Server,
    private readonly gateway: number,
  ) {}

  /** `gateway`: its port. */
  static async open(gateway: number): Promise<HeldWire> {
    const server = createServer((incoming, answer) => {
      wire.pass(incoming, answer).catch(() => answer.destroy());
    });
    const wire = new HeldWire(server, gateway);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return wire;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async dispose(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async pass(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    if (this.hold !== undefined && kindOf(incoming, body) === this.hold) {
      this.held.add(String(incoming.headers['x-agent-launch']));
      return;
    }
    const { method, url, headers } = incoming;
    const outgoing = request({ port: this.gateway, host: '127.0.0.1', method, path: url, agent: false });
    for (const [name, value = ''] of Object.entries(headers)) outgoing.setHeader(name, value);
    outgoing.setHeader('host', `127.0.0.1:${this.gateway}`);
    answer.once('close', () => outgoing.destroy());
    outgoing.end(body);
    outgoing.on('error', () => answer.destroy());
    outgoing.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      answer.flushHeaders();
      response.on('error', () => answer.destroy());
      response.pipe(answer);
    });
  }
}

function kindOf({ method }: IncomingMessage, body: Buffer): string | undefined {
  if (method === 'GET') return 'standing stream';
  try {
    return messageSchema.parse(JSON.parse(body.toString())).method;
  } catch {
    return undefined;
  }
}
