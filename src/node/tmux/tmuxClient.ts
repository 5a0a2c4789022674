import { Sequencer } from '../../base/async.ts';
import { BowlineError, messageOf } from '../../base/errors.ts';
import { Emitter } from '../../base/events.ts';
import { DisposableObject, type Disposable, toDisposable } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import {
  type PaneInfo,
  paneFormat,
  paneSubscription,
  paneSubscriptionFormat,
  parsePane,
} from '../../core/tmux/formats.ts';
import { type Environment, mayReachAgent } from '../environment.ts';
import { exists } from '../files.ts';
import type { PtyModule, PtyUnavailable } from '../pty.ts';
import { ControlConnection } from './controlConnection.ts';
import { keeperSession, serverConfiguration } from './tmuxConfiguration.ts';
import { failed, TmuxServer } from './tmuxServer.ts';
import { type ControlClientCommand, openPipeTransport, openPtyTransport, type TransportKind } from './tmuxTransport.ts';

/** What is known about tmux. Only `no server` proves that no agent runs; `unknown` never does. */
export type TmuxState =
  | { readonly kind: 'connecting' }
  /** `fallback`: why pipes are used although a pseudo terminal was asked for. */
  | { readonly kind: 'connected'; readonly transport: TransportKind; readonly fallback?: string }
  | { readonly kind: 'away'; readonly reason: 'no server' | 'unknown'; readonly error: BowlineError };

export interface TmuxClientOptions {
  readonly stateDirectory: string;
  /** The person's setting; wins over every search. */
  readonly tmuxPath?: string;
  /** Environment of the calling process; the allow-listed part goes on. */
  readonly environment: Environment;
  readonly log: Log;
  /** Loads node-pty at the first connection. Without it: pipes. */
  readonly loadPty?: () => PtyModule | PtyUnavailable;
  /** Milliseconds; the defaults are for people, shorter ones for tests. */
  readonly timings?: Partial<TmuxTimings>;
}

export interface TmuxTimings {
  /** Limit of one command and of one tmux process. */
  readonly commandMs: number;
  /** Distance of the `list-panes` that stand behind the pushed changes. */
  readonly safetyNetMs: number;
  /** A connection that has not answered for this long after a timeout is given up. */
  readonly stalledMs: number;
  readonly longestBackoffMs: number;
  /** The same while there is no tmux that can be used. */
  readonly longestSearchBackoffMs: number;
}

/** Runs tmux commands. What the pane operations ask for. */
export interface TmuxCommands {
  /** Runs one command and resolves with the lines of its reply. Errors as in {@link TmuxCommands.commands}. */
  command(args: readonly string[], options?: { readonly timeoutMs?: number }): Promise<string[]>;
  /**
   * Runs commands in one go; no other client's command comes between. Resolves with one reply per command.
   * Rejects with `tmux-failed` (the first failed command; later ones did not run) or `tmux-no-answer` (unknown).
   */
  commands(commands: readonly (readonly string[])[], options?: { readonly timeoutMs?: number }): Promise<string[][]>;
}

const defaultTimings: TmuxTimings = {
  commandMs: 5000,
  safetyNetMs: 30_000,
  stalledMs: 15_000,
  longestBackoffMs: 5000,
  longestSearchBackoffMs: 120_000,
};

/**
 * One control client on Bowline's own tmux server. Connects again by itself when the client ends, but never starts a
 * server by itself: that a server died is news, and what to restore is not decided here.
 */
export class TmuxClient extends DisposableObject implements TmuxCommands {
  readonly server: TmuxServer;
  private readonly log: Log;
  private readonly timings: TmuxTimings;
  private readonly attachQueue = new Sequencer();
  private readonly snapshotQueue = new Sequencer();
  private readonly panesEmitter = this._register(new Emitter<readonly PaneInfo[]>());
  private readonly stateEmitter = this._register(new Emitter<TmuxState>());
  private currentState: TmuxState = { kind: 'connecting' };
  private connection: ControlConnection | undefined;
  private pty: PtyModule | PtyUnavailable | undefined;
  private serverPid: number | undefined;
  private lastPanes: readonly PaneInfo[] | undefined;
  /** `<pane>:<pid>` of dead panes whose lost status the server was already reminded of. */
  private reminded = new Set<string>();
  private failures = 0;
  private disposed = false;
  private readonly timers = new Map<'retry' | 'safety net' | 'stalled', Disposable>();

  /** All panes of agents, whenever something about them changed (pushed by tmux within about 1 s). */
  readonly onPanesChanged = this.panesEmitter.event;
  readonly onState = this.stateEmitter.event;

  constructor(private readonly options: TmuxClientOptions) {
    super();
    this.log = options.log;
    this.timings = { ...defaultTimings, ...options.timings };
    this.server = new TmuxServer({ ...options, timeoutMs: this.timings.commandMs });
  }

  get state(): TmuxState {
    return this.currentState;
  }

  /** The last snapshot; `undefined` before the first one. While the state is `away` it says how things were. */
  get panes(): readonly PaneInfo[] | undefined {
    return this.lastPanes;
  }

  /**
   * Starts the server if needed, attaches and takes a snapshot. Does nothing while connected. Rejects with the error that `onState` shows,
   * and goes on trying to attach (without starting a server) until it succeeds or is disposed.
   */
  connect(): Promise<void> {
    return this.attachQueue.run(() => this.attach('start the server'));
  }

  async command(args: readonly string[], options: { readonly timeoutMs?: number } = {}): Promise<string[]> {
    const [lines] = await this.commands([args], options);
    return lines ?? [];
  }

  async commands(
    commands: readonly (readonly string[])[],
    options: { readonly timeoutMs?: number } = {},
  ): Promise<string[][]> {
    const { connection } = this;
    if (connection === undefined) throw this.notConnected();
    return this.watched(connection, commands, options.timeoutMs ?? this.timings.commandMs);
  }

  /** Asks tmux now, without a snapshot event. The keeper session is left out. */
  async listPanes(): Promise<PaneInfo[]> {
    const lines = await this.command(['list-panes', '-a', '-F', paneFormat]);
    return lines.flatMap((line) => parsePane(line) ?? []).filter(isAgentPane);
  }

  /** The command with which a terminal attaches to a session: no shell, and no `TMUX` of an outer session. */
  async attachCommand(
    sessionId: string,
  ): Promise<{ file: string; args: string[]; environment: Record<string, string | null> }> {
    const { file } = await this.server.locate();
    return {
      file,
      args: ['-u', '-S', this.server.socketPath, 'attach-session', '-t', sessionId],
      environment: { TMUX: null, TMUX_PANE: null },
    };
  }

  override dispose(): void {
    this.disposed = true;
    for (const timer of this.timers.values()) timer.dispose();
    this.timers.clear();
    const { connection } = this;
    this.connection = undefined;
    connection?.dispose();
    super.dispose();
  }

  private async attach(mode: 'start the server' | 'only a running server'): Promise<void> {
    if (this.disposed) throw new BowlineError('cancelled', 'The tmux client was closed.');
    if (this.connection !== undefined) return;
    this.stopTimer('retry');
    if (this.currentState.kind !== 'away') this.setState({ kind: 'connecting' });
    let connection: ControlConnection | undefined;
    try {
      if (mode === 'start the server') await this.server.start();
      else await this.requireServer();
      const opened = await this.open();
      connection = opened.connection;
      await this.setUp(connection);
      if (this.isDisposed()) throw new BowlineError('cancelled', 'The tmux client was closed.');
      this.adopt(connection, opened.fallback);
    } catch (error) {
      connection?.dispose();
      this.fail(error);
      throw error;
    }
    await this.takeSnapshot();
  }

  /** Read through a function, because it changes while `attach` waits. */
  private isDisposed(): boolean {
    return this.disposed;
  }

  private async requireServer(): Promise<void> {
    const presence = await this.server.presence();
    if (presence.kind === 'unknown') throw presence.error;
    if (presence.kind === 'none') throw new NoServerError();
  }

  private async open(): Promise<{ connection: ControlConnection; fallback?: string }> {
    const command: ControlClientCommand = {
      file: (await this.server.locate()).file,
      serverArguments: ['-S', this.server.socketPath],
      session: `=${keeperSession}`,
      environment: this.server.environment,
    };
    let fallback: string | undefined;
    if (this.options.loadPty !== undefined) {
      this.pty ??= this.options.loadPty();
      if ('unavailable' in this.pty) fallback = this.pty.unavailable;
      else {
        const attempt = await this.openPty(command, this.pty);
        if (typeof attempt !== 'string') return { connection: attempt };
        fallback = attempt;
      }
      this.log.warn('tmux is reached over pipes', { reason: fallback });
    }
    const connection = new ControlConnection(openPipeTransport(command));
    await attachedOrDisposed(connection, this.timings.commandMs);
    return { connection, ...(fallback !== undefined && { fallback }) };
  }

  /** A connection, or the reason why the pseudo terminal is of no use. Rejects when tmux itself is the trouble. */
  private async openPty(command: ControlClientCommand, pty: PtyModule): Promise<ControlConnection | string> {
    let connection: ControlConnection;
    try {
      connection = new ControlConnection(openPtyTransport(command, pty));
    } catch (error) {
      return `node-pty cannot start a process: ${messageOf(error)}`;
    }
    try {
      await attachedOrDisposed(connection, this.timings.commandMs);
      return connection;
    } catch (error) {
      if (connection.opened || (error instanceof BowlineError && error.code === 'tmux-no-answer')) throw error;
      const reason = error instanceof BowlineError ? error.cause : error;
      return `the pseudo terminal ended at once: ${messageOf(reason)}`;
    }
  }

  /** Makes the server what Bowline needs, whoever started it and with whatever environment. */
  private async setUp(connection: ControlConnection): Promise<void> {
    const limit = this.timings.commandMs;
    const [environment = []] = await connection.run([['show-environment', '-g']], limit);
    const foreign = environment.flatMap((line) => /^([^-=\s][^=\s]*)=/.exec(line)?.[1] ?? []);
    const configuration = [
      ...foreign.filter((name) => !mayReachAgent(name)).map((name) => ['set-environment', '-g', '-u', name]),
      ...serverConfiguration({ defaultTerminal: this.server.defaultTerminal }),
    ];
    const results = await Promise.allSettled(configuration.map((command) => connection.run([command], limit)));
    for (const [index, result] of results.entries()) {
      if (result.status === 'fulfilled') continue;
      if (connection.closed) throw result.reason;
      const command = configuration[index]?.slice(0, 3).join(' ') ?? '';
      this.log.warn('tmux did not take a setting', { command, reason: messageOf(result.reason) });
    }
    const [pid = []] = await connection.run([['display-message', '-p', '#{pid}']], limit);
    this.serverPid = Number(pid[0]);
    await this.server.record(this.serverPid);
    connection.onSubscription(({ subscription }) => {
      if (subscription === paneSubscription && connection === this.connection) void this.takeSnapshot();
    });
    await connection.run([['refresh-client', '-B', paneSubscriptionFormat]], limit);
  }

  private adopt(connection: ControlConnection, fallback: string | undefined): void {
    this.connection = connection;
    this.failures = 0;
    const connected: TmuxState = {
      kind: 'connected',
      transport: connection.kind,
      ...(fallback !== undefined && { fallback }),
    };
    connection.onAnswer(() => {
      if (!this.timers.has('stalled')) return;
      this.stopTimer('stalled');
      this.setState(connected);
      void this.takeSnapshot();
    });
    connection.onClosed((detail) => {
      if (this.connection !== connection) return;
      this.connection = undefined;
      this.log.warn('the tmux control client ended', { detail });
      connection.dispose();
      this.setState({ kind: 'connecting' });
      this.retryIn(0);
    });
    const tick = setInterval(() => void this.checkAll(), this.timings.safetyNetMs);
    tick.unref();
    this.setTimer('safety net', () => {
      clearInterval(tick);
    });
    this.setState(connected);
  }

  private async watched(
    connection: ControlConnection,
    commands: readonly (readonly string[])[],
    timeoutMs: number,
  ): Promise<string[][]> {
    try {
      return await connection.run(commands, timeoutMs);
    } catch (error) {
      if (error instanceof BowlineError && error.code === 'tmux-no-answer' && this.connection === connection) {
        this.stall(connection, error);
      }
      throw error;
    }
  }

  /** tmux is late. The connection is kept for a while, because a late answer makes all well again. */
  private stall(connection: ControlConnection, error: BowlineError): void {
    if (this.timers.has('stalled')) return;
    this.setState({ kind: 'away', reason: 'unknown', error });
    const timer = setTimeout(() => {
      this.stopTimer('stalled');
      connection.dispose();
    }, this.timings.stalledMs);
    timer.unref();
    this.setTimer('stalled', () => {
      clearTimeout(timer);
    });
  }

  private fail(error: unknown): void {
    if (this.disposed) return;
    const known = error instanceof BowlineError ? error : failed(messageOf(error));
    const reason = known instanceof NoServerError ? 'no server' : 'unknown';
    this.setState({ kind: 'away', reason, error: known });
    this.failures += 1;
    // Without a usable program each try searches the machine; who installs one starts an agent, which tries at once.
    const isMissing = known.code === 'tmux-missing' || known.code === 'tmux-too-old';
    const longest = isMissing ? this.timings.longestSearchBackoffMs : this.timings.longestBackoffMs;
    this.retryIn(Math.min(50 * 2 ** this.failures, longest));
  }

  private retryIn(milliseconds: number): void {
    if (this.disposed) return;
    this.stopTimer('safety net');
    this.stopTimer('stalled');
    const timer = setTimeout(() => {
      // The failure is in the state, and the next try is planned.
      this.attachQueue.run(() => this.attach('only a running server')).catch(() => undefined);
    }, milliseconds);
    timer.unref();
    this.setTimer('retry', () => {
      clearTimeout(timer);
    });
  }

  /** The safety net: what pushes could have missed, and a socket file that a cleaner has taken. */
  private async checkAll(): Promise<void> {
    await this.takeSnapshot();
    if (this.connection === undefined || (await exists(this.server.socketPath))) return;
    const presence = await this.server.presence();
    if (presence.kind === 'unknown') this.log.warn('the tmux socket is gone', { reason: messageOf(presence.error) });
  }

  private async takeSnapshot(): Promise<void> {
    try {
      await this.accept(await this.listPanes());
    } catch (error) {
      this.log.debug('no snapshot of the panes', { reason: messageOf(error) });
    }
  }

  private accept(panes: readonly PaneInfo[]): Promise<void> {
    return this.snapshotQueue.run(async () => {
      const complete = await this.withLostStatus(panes);
      const before = JSON.stringify(this.lastPanes);
      this.lastPanes = complete;
      if (JSON.stringify(complete) !== before) this.panesEmitter.fire(complete);
    });
  }

  /** Before tmux 3.6 a server can miss a child's death; SIGCHLD makes it look (measured, tmux 3.3a of Debian). */
  private async withLostStatus(panes: readonly PaneInfo[]): Promise<readonly PaneInfo[]> {
    const lost = panes.filter((pane) => pane.dead && pane.deadStatus === undefined && pane.deadSignal === undefined);
    const keys = lost.map((pane) => `${pane.paneId}:${pane.pid}`);
    const news = keys.some((key) => !this.reminded.has(key));
    this.reminded = new Set(keys);
    if (!news || this.serverPid === undefined) return panes;
    try {
      process.kill(this.serverPid, 'SIGCHLD');
      return await this.listPanes();
    } catch (error) {
      this.log.debug('the status of a dead pane stays unknown', { reason: messageOf(error) });
      return panes;
    }
  }

  private notConnected(): BowlineError {
    if (this.currentState.kind === 'away') return this.currentState.error;
    return new BowlineError(
      'tmux-no-answer',
      'Bowline is not connected to tmux yet. It connects by itself; try again.',
    );
  }

  private setState(state: TmuxState): void {
    if (this.disposed || JSON.stringify(state) === JSON.stringify(this.currentState)) return;
    this.currentState = state;
    this.stateEmitter.fire(state);
  }

  private setTimer(name: 'retry' | 'safety net' | 'stalled', stop: () => void): void {
    this.stopTimer(name);
    this.timers.set(name, toDisposable(stop));
  }

  private stopTimer(name: 'retry' | 'safety net' | 'stalled'): void {
    this.timers.get(name)?.dispose();
    this.timers.delete(name);
  }
}

/** The one proof of death: nothing listens on the socket, or it is gone together with the recorded process. */
export class NoServerError extends BowlineError {
  constructor() {
    super('tmux-failed', 'The tmux server of the fleet is not running. Start an agent or restore the fleet.');
  }
}

async function attachedOrDisposed(connection: ControlConnection, timeoutMs: number): Promise<void> {
  try {
    await connection.attached(timeoutMs);
  } catch (error) {
    connection.dispose();
    throw error;
  }
}

function isAgentPane(pane: PaneInfo): boolean {
  return pane.sessionName !== keeperSession;
}
