import { type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from 'node:http';
import { type Socket, Server as SocketServer } from 'node:net';
import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { delay } from '../base/async.ts';
import { BowlineError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { compareVersions, extensionVersionOf, isInstalled } from '../node/programVersions.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { Clock, FleetPort } from './ports.ts';

/** In milliseconds. */
const times = {
  /** A call that runs for longer than this is let end before anything is closed: all others wait from then on. */
  slowAfter: 250,
  /** The same where calls of that length follow each other without end: it grows up to this with a part of the time. */
  slowAfterAtMost: 2_000,
  slowAfterPart: 1 / 4,
  /** For the slowest call; then it is cut. */
  calmAtMost: 600_000,
  /** For the last calls, while new connections wait. */
  drainAtMost: 20_000,
  /** Clients use or give up their idle connections. */
  forwardFor: 60_000,
  /** The holder starts the successor and hears from it within this time. */
  holderAnswers: 30_000,
} as const;

/** What a {@link HandOver} works with. */
export interface HandOverOptions {
  readonly server: Server;
  readonly port: number;
  readonly paths: StatePaths;
  readonly fleet: FleetPort;
  readonly clock: Clock;
  readonly log: Log;
  /** The version that runs: the name of its directory below `versions`. */
  readonly version: string;
  readonly toHolder: (message: HandOverRequest) => void;
  /** Stops everything that acts, and resolves when the last change is on disk. Nothing may be written after it. */
  readonly settle: () => Promise<void>;
  /** Ends this process. */
  readonly end: () => void;
}

/** What the gateway tells its holder. */
type HandOverRequest =
  /** Start the program of this version beside this one; it loads its modules and waits. */
  | { readonly kind: 'hand over'; readonly version: string }
  /** The state is on disk and the socket is closed here: let the successor go on. */
  | { readonly kind: 'handed over' };

/** What the holder answers. Its program may be older or newer than this one. */
const holderMessageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('successor ready') }),
  z.object({ kind: z.literal('successor failed'), version: z.string(), reason: z.string() }),
]);

type Phase = 'serving' | 'asked' | 'draining' | 'handed over';

const pollMs = 20;

/**
 * Hands socket and state over to another version without a lost call: the successor loads, slow calls end, the listening
 * handle is closed (connections wait in the kernel), the last calls end, the state is brought to disk, the successor goes
 * on. Until clients have given up the connections to this process, it passes on what still comes in on them: a
 * connection that is closed while a request is on its way would lose that call.
 */
export class HandOver {
  private readonly sockets = new Set<Socket>();
  /** Calls under way, by when they began. */
  private readonly calls = new Map<ServerResponse, { readonly request: IncomingMessage; readonly since: number }>();
  private phase: Phase = 'serving';
  private wanted: string | undefined;
  private patience: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: HandOverOptions) {
    options.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  /** Whether the state belongs to another process now. */
  get isOver(): boolean {
    return this.phase === 'handed over';
  }

  /** Lets `handle` serve requests as long as this process is the gateway; then they are passed on. */
  around(
    handle: (request: IncomingMessage, response: ServerResponse) => void,
  ): (request: IncomingMessage, response: ServerResponse) => void {
    return (request, response) => {
      if (this.phase === 'draining' || this.phase === 'handed over') {
        this.passOn(request, response);
        return;
      }
      this.calls.set(response, { request, since: performance.now() });
      response.on('close', () => this.calls.delete(response));
      handle(request, response);
    };
  }

  /** The same for upgrades: a window that is turned away connects anew. */
  aroundUpgrade(
    handle: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
  ): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
    return (request, socket, head) => {
      if (this.phase === 'draining' || this.phase === 'handed over') socket.destroy();
      else handle(request, socket, head);
    };
  }

  /**
   * Begins to hand over to the version of this name; resolves when it has begun, or runs already. It takes place when no
   * slow call is under way. Rejects with `bad-request` for what is not installed, `takeover-refused` for an older one.
   */
  async request(version: string): Promise<void> {
    const { paths, log, version: running } = this.options;
    if (!(await isInstalled(paths, version))) {
      throw new BowlineError('bad-request', `"${version.slice(0, 100)}" is not an installed version of Bowline.`);
    }
    if (version === running || this.phase !== 'serving') return;
    if (compareVersions(version, running) < 0) {
      const [older, newer] = [extensionVersionOf(version), extensionVersionOf(running)];
      throw new BowlineError('takeover-refused', `Bowline ${newer} runs already; it does not give way to ${older}.`);
    }
    this.phase = 'asked';
    this.wanted = version;
    log.info('another version takes over', { from: running, to: version });
    this.patience = setTimeout(() => {
      this.failed(version, 'the holder did not answer');
    }, times.holderAnswers);
    this.options.toHolder({ kind: 'hand over', version });
  }

  /** Takes what the holder sent. */
  accept(message: unknown): void {
    const { log } = this.options;
    const parsed = holderMessageSchema.safeParse(message);
    if (!parsed.success) {
      log.warn('the holder said something that this version does not know');
    } else if (parsed.data.kind === 'successor failed') {
      this.failed(parsed.data.version, parsed.data.reason);
    } else if (this.phase === 'asked') {
      clearTimeout(this.patience);
      void this.run();
    }
  }

  private failed(version: string, reason: string): void {
    clearTimeout(this.patience);
    // While draining it is too late: the holder starts this version again.
    if (this.phase !== 'asked' || version !== this.wanted) return;
    this.phase = 'serving';
    const { fleet, clock, version: running } = this.options;
    const at = clock();
    fleet.report({ at, kind: 'noticed', notice: { at, ...takeoverFailedNotice(version, running, reason) } });
  }

  private async run(): Promise<void> {
    const { log, server, toHolder, settle, end } = this.options;
    const { calmAtMost, drainAtMost, forwardFor, slowAfter, slowAfterAtMost, slowAfterPart } = times;
    const began = performance.now();
    const slow = (): number =>
      Math.min(slowAfterAtMost, Math.max(slowAfter, (performance.now() - began) * slowAfterPart));
    await this.until(() => this.callsOlderThan(slow()) === 0 || this.phase !== 'asked', calmAtMost);
    if (this.phase !== 'asked') return;
    this.phase = 'draining';
    // Not the method of an http server: that one also closes idle connections, on which a request may be on its way.
    SocketServer.prototype.close.call(server);
    for (const response of this.calls.keys()) response.shouldKeepAlive = false;
    await this.until(() => this.callsOlderThan(0) === 0, drainAtMost);
    const cut = this.callsOlderThan(0);
    if (cut > 0) log.warn('calls are cut by the hand-over: they take too long', { cut });
    await settle();
    this.phase = 'handed over';
    toHolder({ kind: 'handed over' });
    log.info('handed over');
    await this.until(() => this.sockets.size === 0, forwardFor);
    end();
  }

  /** How many calls are under way for longer than this. A stream that stands open is no call. */
  private callsOlderThan(milliseconds: number): number {
    const limit = performance.now() - milliseconds;
    return [...this.calls].filter(([response, { request, since }]) => {
      const isStream = request.method === 'GET' && response.headersSent;
      return since <= limit && !isStream;
    }).length;
  }

  /** Waits for a condition, at most for so long. */
  private async until(isTrue: () => boolean, milliseconds: number): Promise<void> {
    const limit = performance.now() + milliseconds;
    while (!isTrue() && performance.now() < limit) await delay(pollMs);
  }

  /** Lets the successor answer; its port is this one. The connection ends with the answer. */
  private passOn(request: IncomingMessage, response: ServerResponse): void {
    const { port } = this.options;
    const { method, url: path } = request;
    const headers = withoutHopByHop(request.headers);
    const outgoing = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false });
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, { ...withoutHopByHop(answer.headers), connection: 'close' });
      response.flushHeaders();
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('error', () => undefined);
    response.on('close', () => outgoing.destroy());
    request.on('error', () => outgoing.destroy());
    request.pipe(outgoing);
  }
}

/** What a person is told when another version could not take over. */
export function takeoverFailedNotice(
  version: string,
  running: string,
  reason: string,
): { readonly code: string; readonly sentence: string; readonly severity: 'error' } {
  const [wanted, present] = [extensionVersionOf(version), extensionVersionOf(running)];
  return {
    code: 'takeover-failed',
    sentence:
      `Bowline ${wanted} could not take over (${reason.slice(0, 500)}); the gateway of ${present} goes on and no agent ` +
      'is affected. Reload the window to try again in ten minutes, or install another version; the log tells more.',
    severity: 'error',
  };
}

/** Headers that belong to one connection (RFC 9110, 7.6.1), but for the framing that Node needs to be told. */
function withoutHopByHop<Headers extends IncomingMessage['headers']>(
  headers: Headers,
): Omit<Headers, 'connection' | 'keep-alive'> {
  const { connection: _connection, 'keep-alive': _keepAlive, ...rest } = headers;
  return rest;
}
