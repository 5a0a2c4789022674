import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { BowlineError, messageOf } from '../base/errors.ts';
import { DisposableObject, toDisposable } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import type { NumberedEvent } from '../node/stateFiles.ts';
import type { HandsFact } from '../protocol/fleetEvent.ts';
import { type GatewayMessage, streamProtocol, type WindowMessage } from '../protocol/stream.ts';
import type { Commands } from './commands.ts';
import type { FleetService } from './fleetService.ts';
import type { HandsTasks } from './handsTasks.ts';
import type { OwnHands } from './ownHands.ts';
import type { Clock } from './ports.ts';
import { readWindowMessage } from './windowMessages.ts';

/** What {@link Windows} works with. */
export interface WindowsOptions {
  readonly fleet: FleetService;
  readonly tasks: HandsTasks;
  readonly commands: Commands;
  /** Act while no window does; absent: effects wait for a window. */
  readonly ownHands?: OwnHands;
  readonly clock: Clock;
  readonly log: Log;
  /** Of the gateway's program. */
  readonly version: string;
  /** Between pings, in milliseconds (5 000). A window that is silent for three times as long is dropped. */
  readonly pingEveryMs?: number;
  /** Bytes that may wait for a slow window before it is dropped (8 MB). */
  readonly backlogAtMost?: number;
}

/** Codes with which the gateway closes a stream (RFC 6455, 7.4.2: from 4000 on they are private). */
export const closeCodes = {
  goingAway: 1001,
  protocolMismatch: 4001,
  notUnderstood: 4002,
  replaced: 4003,
  tooSlow: 4004,
} as const;

/** A window says hello first thing. */
const helloLimitMs = 5_000;
/** What a window sends is small. */
const largestMessage = 1024 * 1024;

interface Member {
  readonly window: string;
  readonly socket: WebSocket;
  readonly offersHands: boolean;
  /** The tasks it was told last, as text. */
  toldTasks?: string;
}

/** The windows on the stream: each mirrors the fleet, one of them is the hands. */
export class Windows extends DisposableObject {
  private readonly server: WebSocketServer;
  /** In the order of their hellos: the next one gets the hands. */
  private members: readonly Member[] = [];
  private hands: Member | undefined;
  /** What happened in this turn of the event loop and was not told yet: the answers of many agents come at once. */
  private untold: NumberedEvent[] = [];
  private soon: NodeJS.Immediate | undefined;

  constructor(private readonly options: WindowsOptions) {
    super();
    this.server = new WebSocketServer({ noServer: true, maxPayload: largestMessage, perMessageDeflate: false });
    this._register(
      options.fleet.onEvent((numbered) => {
        this.untold.push(numbered);
        this.soon ??= setImmediate(() => {
          this.tellEvents();
        });
      }),
    );
    this._register(
      options.tasks.onTasks(() => {
        this.sendTasks();
      }),
    );
    const { ownHands } = options;
    if (ownHands !== undefined) {
      this._register(
        ownHands.onDidChange(() => {
          this.lendHands();
        }),
      );
      ownHands.offer();
    }
    this._register(
      toDisposable(() => {
        this.tellEvents();
        for (const socket of this.server.clients) socket.close(closeCodes.goingAway, 'the gateway ends');
      }),
    );
  }

  /** Takes over a connection whose edges and token are checked. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.server.handleUpgrade(request, socket, head, (stream) => {
      this.serve(stream);
    });
  }

  private serve(socket: WebSocket): void {
    let member: Member | undefined;
    const helloLimit = setTimeout(() => {
      socket.close(closeCodes.notUnderstood, 'no hello came');
    }, helloLimitMs);
    const stopPings = this.keepAlive(socket);
    socket.on('error', (error) => {
      this.options.log.warn('a window sent what is no WebSocket message', { reason: error.message });
    });
    socket.on('close', () => {
      clearTimeout(helloLimit);
      stopPings();
      if (member !== undefined) this.leave(member);
    });
    socket.on('message', (data, isBinary) => {
      if (socket.readyState !== socket.OPEN) return;
      const reading = readWindowMessage(isBinary ? undefined : textOf(data));
      for (const reason of reading.dropped) this.options.log.warn('a part of a message was dropped', { reason });
      if (reading.kind === 'answerable') {
        this.send(socket, { kind: 'reply', id: reading.id, error: { code: 'bad-request', sentence: reading.reason } });
      } else if (reading.kind === 'damaged') {
        this.refuse(socket, closeCodes.notUnderstood, reading.reason);
      } else if (member !== undefined) {
        this.handle(member, reading.message);
      } else if (reading.message.kind === 'hello') {
        clearTimeout(helloLimit);
        member = this.join(socket, reading.message);
      } else {
        this.refuse(socket, closeCodes.notUnderstood, `"${reading.message.kind}" came before the hello`);
      }
    });
  }

  private join(socket: WebSocket, hello: Extract<WindowMessage, { kind: 'hello' }>): Member | undefined {
    if (hello.protocol !== streamProtocol) {
      const older = hello.protocol > streamProtocol ? 'gateway' : 'extension';
      const sentence = `The window speaks ${hello.protocol}, the gateway ${streamProtocol}: update the ${older}.`;
      this.refuse(socket, closeCodes.protocolMismatch, sentence);
      return undefined;
    }
    const member: Member = {
      window: hello.window,
      socket,
      offersHands: hello.hands === 'offered',
    };
    // What is in the snapshot is not told to the newcomer again.
    this.tellEvents();
    const former = this.members.find((other) => other.window === hello.window);
    if (former !== undefined) this.replace(former, member);
    else this.members = [...this.members, member];
    const epoch = this.options.fleet.state.epoch?.id ?? '';
    this.send(socket, { kind: 'welcome', protocol: streamProtocol, epoch, version: this.options.version });
    this.sendSnapshot(socket);
    this.options.log.info('a window joined', { window: member.window, hands: hello.hands });
    this.lendHands();
    return member;
  }

  /** The same window on a new connection: the old one is half dead, and its place and hands go over. */
  private replace(former: Member, member: Member): void {
    this.members = this.members.map((other) => (other === former ? member : other));
    if (this.hands === former) this.hands = member.offersHands ? member : undefined;
    former.socket.close(closeCodes.replaced, 'the same window connected again');
  }

  private leave(member: Member): void {
    if (!this.members.includes(member)) return;
    this.members = this.members.filter((other) => other !== member);
    if (this.hands === member) this.hands = undefined;
    this.options.log.info('a window left', { window: member.window });
    this.lendHands();
  }

  /** Gives free hands to the first window that offers them, else to the gateway, and tells the fleet who has them. */
  private lendHands(): void {
    this.hands ??= this.members.find((member) => member.offersHands);
    const { fleet, clock, ownHands } = this.options;
    if (this.hands === undefined) ownHands?.offer();
    else ownHands?.withdraw();
    const holder = this.hands?.window ?? ownHands?.holder;
    if (fleet.state.hands?.holder !== holder) {
      fleet.report({ at: clock(), kind: 'hands changed', ...(holder !== undefined && { holder }) });
    }
    this.sendTasks();
  }

  private handle(member: Member, message: WindowMessage): void {
    switch (message.kind) {
      case 'hello':
        this.refuse(member.socket, closeCodes.notUnderstood, 'a second hello');
        return;
      case 'request':
        void this.execute(member, message);
        return;
      case 'hands report':
        this.takeFacts(member, message.facts);
        return;
      case 'resync':
        this.sendSnapshot(member.socket);
        return;
    }
  }

  private async execute(member: Member, request: Extract<WindowMessage, { kind: 'request' }>): Promise<void> {
    const { id, command } = request;
    try {
      await this.options.commands.execute(command, member.window);
      this.send(member.socket, { kind: 'reply', id });
    } catch (error) {
      const known = error instanceof BowlineError;
      const fields = { command: command.kind, window: member.window, reason: messageOf(error) };
      if (known) this.options.log.info('a command was refused', { ...fields, code: error.code });
      else this.options.log.error('a command failed', fields);
      const sentence = known ? error.message : `The gateway failed (${messageOf(error)}). Show Log tells more.`;
      this.send(member.socket, {
        kind: 'reply',
        id,
        error: { code: known ? error.code : 'internal', sentence },
      });
    }
  }

  /** Only the hands act: what another window claims to have done is not believed. */
  private takeFacts(member: Member, facts: readonly HandsFact[]): void {
    if (member !== this.hands) {
      this.options.log.warn('facts of a window that is not the hands were refused', {
        window: member.window,
        facts: facts.length,
      });
      return;
    }
    for (const fact of facts) this.options.fleet.report(fact);
  }

  private sendTasks(): void {
    const { hands } = this;
    if (hands === undefined) return;
    const message: GatewayMessage = { kind: 'tasks', tasks: [...this.options.tasks.tasks] };
    const text = JSON.stringify(message);
    if (hands.toldTasks === text) return;
    hands.toldTasks = text;
    this.sendText(hands.socket, text);
  }

  private sendSnapshot(socket: WebSocket): void {
    const { sequence, state } = this.options.fleet;
    // The wire types are those of the schemas, which know no readonly.
    this.sendText(socket, JSON.stringify({ kind: 'snapshot', sequence, state }));
  }

  private tellEvents(): void {
    clearImmediate(this.soon);
    this.soon = undefined;
    const { untold } = this;
    const [first] = untold;
    this.untold = [];
    if (first === undefined || this.members.length === 0) return;
    const events = untold.map(({ event }) => event);
    const text = JSON.stringify({ kind: 'events', sequence: first.sequence, events });
    for (const { socket } of this.members) this.write(socket, text);
  }

  private send(socket: WebSocket, message: GatewayMessage): void {
    this.sendText(socket, JSON.stringify(message));
  }

  /** Nothing comes before what happened before it. */
  private sendText(socket: WebSocket, text: string): void {
    this.tellEvents();
    this.write(socket, text);
  }

  private write(socket: WebSocket, text: string): void {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > (this.options.backlogAtMost ?? 8 * 1024 * 1024)) {
      this.options.log.warn('a window takes nothing any more; dropping it', { bytes: socket.bufferedAmount });
      socket.terminate();
      return;
    }
    socket.send(text);
  }

  /** Answers with the reason and ends the stream. */
  private refuse(socket: WebSocket, code: number, reason: string): void {
    this.options.log.warn('a window was refused', { code, reason });
    // A close frame holds 123 bytes (RFC 6455, 5.5).
    socket.close(
      code,
      Buffer.from(reason)
        .subarray(0, 123)
        .toString('utf8')
        .replace(/\ufffd+$/, ''),
    );
  }

  /** Pings at intervals; whoever sends nothing for three of them is gone. Returns what stops it. */
  private keepAlive(socket: WebSocket): () => void {
    const { pingEveryMs = 5_000 } = this.options;
    let heardAt = performance.now();
    const heard = (): void => {
      heardAt = performance.now();
    };
    socket.on('pong', heard).on('message', heard);
    let lastTick = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      // After a pause of this process the silence proves nothing.
      if (now - lastTick > pingEveryMs * 2) heardAt = now;
      lastTick = now;
      if (now - heardAt > pingEveryMs * 3) {
        this.options.log.warn('a window is silent; dropping it');
        socket.terminate();
      } else if (socket.readyState === socket.OPEN) {
        socket.ping();
      }
    }, pingEveryMs);
    return () => {
      clearInterval(timer);
    };
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}
