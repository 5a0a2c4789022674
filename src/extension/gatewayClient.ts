import { delay } from '../base/async.ts';
import { BowlineError, messageOf } from '../base/errors.ts';
import { Emitter } from '../base/events.ts';
import { DisposableObject, toDisposable } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import type { Connection } from '../core/fleet/select.ts';
import type { FleetState } from '../core/fleet/state.ts';
import { readEndpointFile } from '../node/endpointFile.ts';
import { readState } from '../node/stateFiles.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { Command } from '../protocol/commands.ts';
import type { Endpoint } from '../protocol/endpointFile.ts';
import type { HandsFact } from '../protocol/fleetEvent.ts';
import { type GatewayMessage, type HandsTask, streamProtocol } from '../protocol/stream.ts';
import { FleetMirror } from './fleetMirror.ts';
import { type GatewaySocket, openGatewaySocket, probePort, type UnreadableMessage } from './gatewaySocket.ts';
import { PendingRequests } from './pendingRequests.ts';

export interface GatewayClientOptions {
  readonly paths: StatePaths;
  readonly log: Log;
  /** Names this window in the audit and in the lease of the hands. */
  readonly window: string;
  /** Asked at each connection. */
  readonly hands: () => 'offered' | 'not offered';
  /** Makes sure that holder and gateway run, see `ensureHolder`. */
  readonly ensure: (signal: AbortSignal) => Promise<Endpoint>;
  readonly timings?: Partial<GatewayClientTimings>;
}

/** In milliseconds. */
export interface GatewayClientTimings {
  readonly request: number;
  readonly answer: number;
  readonly silence: number;
  readonly firstBackoff: number;
  /** A gateway that was mended is back within this time. */
  readonly longestBackoff: number;
}

const defaultTimings: GatewayClientTimings = {
  request: 10_000,
  answer: 5_000,
  silence: 12_000,
  firstBackoff: 100,
  longestBackoff: 1_500,
};

/**
 * This window's connection to the gateway and its mirror of the fleet. Once started it connects for as long as it lives,
 * and starts the gateway where none runs. While the gateway is away the last state stays.
 */
export class GatewayClient extends DisposableObject {
  private readonly mirror = new FleetMirror();
  private readonly timings: GatewayClientTimings;
  private readonly pending = new PendingRequests();
  private readonly stop = new AbortController();
  private readonly changeEmitter = this._register(this.emitter<undefined>());
  private readonly connectedEmitter = this._register(this.emitter<undefined>());
  private readonly tasksEmitter = this._register(this.emitter<readonly HandsTask[]>());
  private readonly problemEmitter = this._register(this.emitter<BowlineError>());
  private away: Connection = { kind: 'away', since: Date.now(), reason: 'it was not needed yet' };
  private socket: GatewaySocket | undefined;
  private connected = false;
  private started = false;
  private wake = new AbortController();
  private problem: BowlineError | undefined;
  private port: number | undefined;
  /** Of the gateway, as it said last. */
  private version = 'unknown';
  private waiters = 0;

  /** The state or the connection changed. */
  readonly onDidChange = this.changeEmitter.event;
  /** The snapshot of a new connection is there. */
  readonly onDidConnect = this.connectedEmitter.event;
  /** This window has the hands, and these are all of their tasks. */
  readonly onTasks = this.tasksEmitter.event;
  /** The gateway could not be started. Fired at each try. */
  readonly onStartProblem = this.problemEmitter.event;

  constructor(private readonly options: GatewayClientOptions) {
    super();
    this.timings = { ...defaultTimings, ...options.timings };
    this._register(
      toDisposable(() => {
        this.stop.abort(new BowlineError('cancelled', 'The window was closed.'));
        this.wake.abort();
        this.socket?.end('the window was closed');
        this.pending.rejectAll(new BowlineError('cancelled', 'The window was closed.'));
      }),
    );
  }

  get state(): FleetState {
    return this.mirror.state;
  }

  get connection(): Connection {
    return this.connected ? { kind: 'connected' } : this.away;
  }

  get isStarted(): boolean {
    return this.started;
  }

  /** Why the gateway could not be started at the last try. */
  get startProblem(): BowlineError | undefined {
    return this.problem;
  }

  /** Whether somebody waits for the connection and will hear of a failure. */
  get isAwaited(): boolean {
    return this.waiters > 0;
  }

  /** Connects from now on. When it waits before its next try, it tries at once. */
  start(): void {
    if (this.stop.signal.aborted) return;
    if (this.started) {
      this.wake.abort();
      return;
    }
    this.started = true;
    this.away = { kind: 'away', since: Date.now(), reason: 'it is being started' };
    void this.run();
  }

  /** Ends the connection and makes a new one, so that the gateway hears anew what this window offers. */
  reconnect(): void {
    this.socket?.end('this window connects anew');
    if (this.started) this.wake.abort();
  }

  /** Resolves when connected; starts what is needed. Rejects with why the gateway does not start or `gateway-away`. */
  whenConnected(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    this.start();
    if (this.connected) return Promise.resolve();
    this.waiters += 1;
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        this.waiters -= 1;
        clearTimeout(timer);
        for (const listener of listeners) listener.dispose();
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const fail = (error: Error): void => {
        finish(() => {
          reject(error);
        });
      };
      const onAbort = (): void => {
        fail(new BowlineError('cancelled', 'Cancelled.'));
      };
      const timer = setTimeout(() => {
        const reason = this.away.kind === 'away' ? this.away.reason : '';
        fail(
          new BowlineError(
            'gateway-away',
            `The Bowline gateway does not answer: ${reason}. Bowline keeps trying; Show Log tells more.`,
          ),
        );
      }, timeoutMs);
      const succeed = (): void => {
        finish(resolve);
      };
      const listeners = [this.connectedEmitter.event(succeed), this.problemEmitter.event(fail)];
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /**
   * Asks the gateway for something. Rejects with the gateway's own code and sentence, with `gateway-cannot-start`, or
   * after 10 s, or when the connection is lost meanwhile, with `gateway-away`: then it is unknown whether it was done.
   */
  async request(command: Command): Promise<void> {
    const limit = performance.now() + this.timings.request;
    await this.whenConnected(this.timings.request);
    const socket = this.socket;
    if (socket === undefined) throw lostBeforeAnswer();
    await this.pending.send(limit - performance.now(), (id) => {
      socket.send({ kind: 'request', id, command });
    });
  }

  /** Tells what the hands did and saw. Lost while the gateway is away; the hands tell it again. */
  report(facts: readonly HandsFact[]): void {
    if (this.connected && facts.length > 0) this.socket?.send({ kind: 'hands report', facts: [...facts] });
  }

  private async run(): Promise<void> {
    const signal = this.stop.signal;
    let failures = 0;
    while (!signal.aborted) {
      failures = (await this.attempt(signal)) === 'was connected' ? 0 : failures + 1;
      await this.pause(failures);
    }
  }

  private async pause(failures: number): Promise<void> {
    const { firstBackoff, longestBackoff } = this.timings;
    this.wake = new AbortController();
    if (this.stop.signal.aborted) return;
    const waitMs = Math.min(firstBackoff * 2 ** Math.max(0, failures - 1), longestBackoff);
    await delay(waitMs, this.wake.signal).catch(() => undefined); // woken: somebody waits for the connection
  }

  private async attempt(signal: AbortSignal): Promise<'was connected' | 'failed'> {
    let synchronised = false;
    try {
      await this.notePort();
      const endpoint = await this.ensure(signal);
      this.port = endpoint.port;
      const socket = await openGatewaySocket(endpoint, {
        answerMs: this.timings.answer,
        silenceMs: this.timings.silence,
        onMessage: (message) => {
          this.accept(message);
        },
      });
      this.socket = socket;
      if (signal.aborted) socket.end('the window was closed');
      socket.send({
        kind: 'hello',
        protocol: streamProtocol,
        window: this.options.window,
        hands: this.options.hands(),
      });
      const patience = setTimeout(() => {
        if (!this.mirror.isSynchronised) socket.end('it accepted the connection, but sent no state');
      }, this.timings.answer);
      const reason = await socket.ended.finally(() => {
        clearTimeout(patience);
      });
      synchronised = this.connected;
      this.disconnected(reason);
    } catch (error) {
      if (!signal.aborted) await this.failed(error);
    }
    return synchronised ? 'was connected' : 'failed';
  }

  private async ensure(signal: AbortSignal): Promise<Endpoint> {
    try {
      const endpoint = await this.options.ensure(signal);
      this.problem = undefined;
      return endpoint;
    } catch (error) {
      if (!signal.aborted && error instanceof BowlineError) {
        this.problem = error;
        this.problemEmitter.fire(error);
      }
      throw error;
    }
  }

  /** Finds out whether the port refuses before anything is started, which may take a while. */
  private async notePort(): Promise<void> {
    if (this.port === undefined) {
      const reading = await readEndpointFile(this.options.paths);
      if (reading.kind !== 'ok') return;
      this.port = reading.endpoint.port;
    }
    const port = await probePort(this.port, this.timings.answer);
    if (port === 'unknown' || this.away.kind !== 'away') return;
    const { refusedSince, ...away } = this.away;
    this.away = port === 'open' ? away : { ...away, refusedSince: refusedSince ?? Date.now() };
    this.changeEmitter.fire(undefined);
  }

  private accept(message: GatewayMessage | UnreadableMessage): void {
    const { log } = this.options;
    if (message === 'unreadable snapshot') {
      // Asked for again, it would be the same. The last state that was understood stays.
      this.socket?.end(this.ofAnotherVersion());
      return;
    }
    if (message === 'unreadable') {
      log.warn('the gateway sent something that this version does not know');
      this.mirror.disconnect();
      this.socket?.send({ kind: 'resync' });
      return;
    }
    switch (message.kind) {
      case 'welcome':
        log.info('joined the gateway', { epoch: message.epoch, version: message.version });
        this.version = message.version;
        if (message.protocol !== streamProtocol) this.socket?.end(this.ofAnotherVersion());
        break;
      case 'snapshot':
      case 'events':
        this.mirrorMessage(message);
        break;
      case 'tasks':
        this.tasksEmitter.fire(message.tasks);
        break;
      case 'reply':
        this.pending.answer(message.id, message.error);
        break;
    }
  }

  private ofAnotherVersion(): string {
    return `it is of another version (${this.version}): reload this window, or update Bowline in it`;
  }

  private mirrorMessage(message: Extract<GatewayMessage, { kind: 'snapshot' | 'events' }>): void {
    switch (this.mirror.accept(message)) {
      case 'ignored':
        return;
      case 'gap':
        this.options.log.warn('missed an event; asking for a snapshot', { sequence: message.sequence });
        this.socket?.send({ kind: 'resync' });
        return;
      case 'changed':
        break;
    }
    if (!this.connected) {
      this.connected = true;
      this.connectedEmitter.fire(undefined);
    }
    this.changeEmitter.fire(undefined);
  }

  private disconnected(reason: string): void {
    if (this.connected) {
      this.options.log.warn('lost the gateway', { reason });
      this.away = { kind: 'away', since: Date.now(), reason };
    } else if (this.away.kind === 'away') {
      this.away = { ...this.away, reason };
    }
    this.socket = undefined;
    this.connected = false;
    this.mirror.disconnect();
    this.pending.rejectAll(lostBeforeAnswer());
    this.changeEmitter.fire(undefined);
  }

  private async failed(error: unknown): Promise<void> {
    const reason = messageOf(error);
    if (this.away.kind === 'away' && this.away.reason !== reason) {
      this.options.log.warn('the gateway is away', { reason });
      this.away = { ...this.away, reason };
    }
    await this.rememberState();
    this.changeEmitter.fire(undefined);
  }

  private async rememberState(): Promise<void> {
    try {
      const reading = await readState(this.options.paths);
      if (reading.kind === 'ok') this.mirror.remember(reading.state);
    } catch (error) {
      this.options.log.warn('the state file cannot be read', { reason: messageOf(error) });
    }
  }

  private emitter<T>(): Emitter<T> {
    return new Emitter<T>((error) => {
      this.options.log.error('a listener failed', { reason: messageOf(error) });
    });
  }
}

function lostBeforeAnswer(): BowlineError {
  return new BowlineError(
    'gateway-away',
    'The Bowline gateway went away before it answered. It may have been done: look at the Agents view before you try again.',
  );
}
