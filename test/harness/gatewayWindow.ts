import { WebSocket } from 'ws';
import { reduceAll } from '../../src/core/fleet/reduce.ts';
import { emptyFleet, type FleetState } from '../../src/core/fleet/state.ts';
import type { Command } from '../../src/protocol/commands.ts';
import type { Endpoint } from '../../src/protocol/endpointFile.ts';
import type { HandsFact } from '../../src/protocol/fleetEvent.ts';
import {
  type GatewayMessage,
  gatewayMessageSchema,
  type HandsTask,
  streamPath,
  streamProtocol,
  type WindowMessage,
} from '../../src/protocol/stream.ts';
import { waitFor } from './waitFor.ts';

type ReplyError = NonNullable<Extract<GatewayMessage, { kind: 'reply' }>['error']>;

/** A stand-in for a window: mirrors the fleet from the stream, asks commands, reports what its test wants as hands. */
export class WindowStandIn {
  state: FleetState = emptyFleet;
  sequence = -1;
  tasks: readonly HandsTask[] = [];
  readonly messages: GatewayMessage[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  private requests = 0;

  private constructor(
    readonly window: string,
    private readonly socket: WebSocket,
  ) {
    socket.on('message', (data: Buffer) => {
      this.take(gatewayMessageSchema.parse(JSON.parse(data.toString('utf8'))));
    });
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString('utf8') };
    });
  }

  /** Connects without a word. */
  static async connect(endpoint: Pick<Endpoint, 'port' | 'token'>, window: string): Promise<WindowStandIn> {
    const socket = new WebSocket(`ws://127.0.0.1:${endpoint.port}${streamPath}`, {
      headers: { authorization: `Bearer ${endpoint.token}` },
    });
    const stand = new WindowStandIn(window, socket);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve).once('error', reject);
    });
    return stand;
  }

  /** Connects, says hello and waits for the snapshot. */
  static async join(
    endpoint: Pick<Endpoint, 'port' | 'token'>,
    window: string,
    hands: 'offered' | 'not offered' = 'offered',
  ): Promise<WindowStandIn> {
    const stand = await WindowStandIn.connect(endpoint, window);
    stand.send({ kind: 'hello', protocol: streamProtocol, window, hands });
    await waitFor(`the snapshot of ${window}`, () => stand.sequence >= 0);
    return stand;
  }

  send(message: WindowMessage): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(text: string | Buffer): void {
    this.socket.send(text);
  }

  report(...facts: HandsFact[]): void {
    this.send({ kind: 'hands report', facts });
  }

  /** Resolves with the error of the reply, or undefined when it went well. */
  async ask(command: Command): Promise<ReplyError | undefined> {
    const id = ++this.requests;
    this.send({ kind: 'request', id, command });
    const reply = await waitFor(`the reply to ${command.kind}`, () =>
      this.messages.find((message) => message.kind === 'reply' && message.id === id),
    );
    return reply.kind === 'reply' ? reply.error : undefined;
  }

  /** Reports the launch of `agent` that is in the tasks as done. */
  async launch(agent: string): Promise<string> {
    const task = await waitFor(`the launch of ${agent}`, () =>
      this.tasks.find((one) => one.kind === 'launch' && one.name === agent),
    );
    const { launchId } = task;
    const process = { tmuxSession: '$1', pane: '%1', pid: 4242 };
    this.report({ at: Date.now(), kind: 'launched', name: agent, launchId, process });
    await waitFor(`${agent} running`, () => this.state.agents[agent]?.life.kind === 'running');
    return launchId;
  }

  close(): void {
    this.socket.close();
  }

  /** Ends the connection like a process that was killed. */
  drop(): void {
    this.socket.terminate();
  }

  /** Reads nothing any more, and so answers no ping. */
  deafen(): void {
    this.socket.pause();
  }

  private take(message: GatewayMessage): void {
    this.messages.push(message);
    if (message.kind === 'snapshot') {
      this.state = message.state;
      this.sequence = message.sequence;
    } else if (message.kind === 'events') {
      if (message.sequence !== this.sequence + 1) {
        throw new Error(`event ${message.sequence} after ${this.sequence}`);
      }
      this.sequence += message.events.length;
      this.state = reduceAll(message.events, this.state);
    } else if (message.kind === 'tasks') {
      this.tasks = message.tasks;
    }
  }
}
