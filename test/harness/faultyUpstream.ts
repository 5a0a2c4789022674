import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a faulty upstream does with a request, by the name of the tool that is called, else by its MCP or HTTP method. */
export type Fault = (response: ServerResponse, id: unknown, request: IncomingMessage) => void | Promise<void>;

/** A stand-in for an MCP server, for what no real one can be made to do. It shakes hands like one, without sessions. */
export class FaultyUpstream {
  /** Methods that arrived, and the tools by their name. */
  readonly seen: string[] = [];
  private readonly server: Server;

  private constructor(private readonly faults: Readonly<Record<string, Fault>>) {
    this.server = createServer((request, response) => void this.handle(request, response));
  }

  static async start(faults: Readonly<Record<string, Fault>>): Promise<FaultyUpstream> {
    const upstream = new FaultyUpstream(faults);
    await new Promise<void>((resolve) => upstream.server.listen(0, '127.0.0.1', resolve));
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  async dispose(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method: verb = '' } = request;
    if (verb !== 'POST') {
      const fault = this.faults[verb];
      if (fault === undefined) response.writeHead(405).end();
      else {
        this.seen.push(verb);
        await fault(response, undefined, request);
      }
      return;
    }
    const message: unknown = JSON.parse(await text(request));
    const { method, id, params } = fieldsOf(message);
    const tool = method === 'tools/call' ? String(fieldsOf(params)['name']) : undefined;
    this.seen.push(tool ?? String(method));
    const fault = this.faults[tool ?? String(method)];
    if (fault !== undefined) {
      await fault(response, id, request);
    } else if (id === undefined) {
      response.writeHead(202).end();
    } else if (tool === undefined) {
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'faulty', version: '0' },
      };
      sendMessage(response, { jsonrpc: '2.0', id, result });
    }
  }
}

export function sendMessage(response: ServerResponse, message: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
}

export function beginStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
