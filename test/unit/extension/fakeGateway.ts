import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { emptyFleet, type FleetState } from '../../../src/core/fleet/state.ts';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import {
  type GatewayMessage,
  streamPath,
  type WindowMessage,
  windowMessageSchema,
} from '../../../src/protocol/stream.ts';

/** A fake gateway: speaks the stream, and fails as the test wants. The real one cannot be made to miss a number. */
export class FakeGateway {
  readonly received: WindowMessage[] = [];
  readonly tokens: (string | undefined)[] = [];
  /** What it does with a new connection. */
  manner: 'serves' | 'never answers the upgrade' | 'never sends a state' = 'serves';
  state: FleetState = emptyFleet;
  sequence = 0;
  private http: Server | undefined;
  private readonly webSockets = new WebSocketServer({ noServer: true });
  private streams: WebSocket[] = [];
  private readonly sockets = new Set<Socket>();
  private port = 0;

  /** Listens, on the same port each time. */
  async listen(): Promise<void> {
    const http = createServer();
    this.http = http;
    http.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    http.on('upgrade', (request, socket, head) => {
      if (this.manner === 'never answers the upgrade' || request.url !== streamPath) return;
      this.tokens.push(request.headers.authorization);
      this.webSockets.handleUpgrade(request, socket, head, (stream) => {
        this.serve(stream);
      });
    });
    await new Promise<void>((resolve) => http.listen(this.port, '127.0.0.1', resolve));
    this.port = (http.address() as AddressInfo).port;
  }

  /** Closes the port and every connection. */
  async close(): Promise<void> {
    const { http } = this;
    if (http === undefined) return;
    this.http = undefined;
    const closed = new Promise((resolve) => http.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    this.streams = [];
    await closed;
  }

  send(message: GatewayMessage): void {
    for (const stream of this.streams) stream.send(JSON.stringify(message));
  }

  ping(): void {
    for (const stream of this.streams) stream.ping();
  }

  kinds(): string[] {
    return this.received.map(({ kind }) => kind);
  }

  get endpoint(): Endpoint {
    return {
      protocol: 1,
      port: this.port,
      token: 't'.repeat(43),
      gateway: { pid: process.pid, startTime: 'fake', instance: 'epoch-1' },
      holder: { instance: 'holder-1' },
      startedAt: 0,
      version: '0.1.0',
    };
  }

  private serve(stream: WebSocket): void {
    this.streams.push(stream);
    stream.on('message', (data: Buffer) => {
      const message = windowMessageSchema.parse(JSON.parse(data.toString('utf8')));
      this.received.push(message);
      if (this.manner === 'never sends a state') return;
      if (message.kind === 'hello') {
        stream.send(JSON.stringify({ kind: 'welcome', protocol: 1, epoch: 'epoch-1', version: '0.1.0' }));
      }
      if (message.kind === 'hello' || message.kind === 'resync') {
        stream.send(JSON.stringify({ kind: 'snapshot', sequence: this.sequence, state: this.state }));
      }
    });
  }
}
