import type { IncomingMessage, ServerResponse } from 'node:http';
import { Emitter } from '../../base/events.ts';
import type { Disposable } from '../../base/lifecycle.ts';
import type { Clock, FleetPort } from '../ports.ts';
import type { JsonRpcMessage } from './jsonRpc.ts';
import type { SessionRecord } from './sessionFile.ts';
import { sessionDigest } from './sessionStore.ts';

/** The longest that nothing comes on a stream, in milliseconds: one that is silent for longer is taken for dead by some. */
export const longestSilence: number = 25_000;

/** One open GET stream. */
export interface StandingStream {
  readonly session: SessionRecord;
  readonly response: ServerResponse;
}

/** Which (agent, server, launch) a stream or session belongs to. */
export type EndpointOf = Pick<SessionRecord, 'agent' | 'server' | 'launchId'>;

export interface StandingStreamsOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
  /** Default: {@link longestSilence}. */
  readonly longestSilenceMs?: number;
}

/**
 * The standing GET streams, at most one per MCP session, oldest first. One launch may own two sessions with a stream each
 * (measured, claude 2.1.160): the endpoint's stream is closed when the last of them is.
 */
export class StandingStreams implements Disposable {
  private readonly streams = new Map<string, StandingStream>();
  private readonly closed = new Emitter<StandingStream>();
  private readonly comments: ReturnType<typeof setInterval>;
  /** What was written to since the last look for silent ones. */
  private spoke = new Set<StandingStream>();
  private disposed = false;

  /** Fires after the closing was reported. */
  readonly onDidClose = this.closed.event;

  constructor(private readonly options: StandingStreamsOptions) {
    // A stream that spoke right after a look is written to at the second look from then: two of these and a late timer fit.
    this.comments = setInterval(
      () => {
        const { spoke } = this;
        this.spoke = new Set();
        for (const stream of this.streams.values()) if (!spoke.has(stream)) this.write(stream, ': still here\n\n');
      },
      (options.longestSilenceMs ?? longestSilence) / 2.5,
    );
  }

  /** Makes `response` the session's stream. A former one is ended: the client has the new one. */
  open(session: SessionRecord, request: IncomingMessage, response: ServerResponse): void {
    const stream = { session, response };
    const former = this.streams.get(session.id);
    this.streams.delete(session.id);
    this.streams.set(session.id, stream);
    request.socket.setKeepAlive(true, 15_000);
    response.on('error', () => undefined);
    response.on('close', () => {
      this.dropped(stream);
    });
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'mcp-session-id': session.id,
    });
    this.write(stream, ': open\n\n');
    if (former !== undefined) {
      ended(former.response);
      this.closed.fire(former);
    }
    this.options.fleet.report({ ...this.eventOf(session), kind: 'mcp stream opened' });
  }

  /** Sends a message on the session's stream. False: it has none. */
  send(sessionId: string, message: JsonRpcMessage): boolean {
    const stream = this.streams.get(sessionId);
    if (stream === undefined) return false;
    this.write(stream, `event: message\ndata: ${JSON.stringify(message)}\n\n`);
    return true;
  }

  /** Sends whole events as they are. False: the stream is full, see {@link drained}. Without a stream they are lost. */
  events(sessionId: string, part: Buffer | string): boolean {
    const stream = this.streams.get(sessionId);
    return stream === undefined || this.write(stream, part);
  }

  /** Resolves when the session's stream has room, or is gone. */
  drained(sessionId: string): Promise<void> {
    const stream = this.streams.get(sessionId);
    return stream === undefined ? Promise.resolve() : drained(stream.response);
  }

  /** The stream opened last for this endpoint. */
  newest(endpoint: EndpointOf): StandingStream | undefined {
    let newest: StandingStream | undefined;
    for (const stream of this.streams.values()) if (sameEndpoint(stream.session, endpoint)) newest = stream;
    return newest;
  }

  has(sessionId: string): boolean {
    return this.streams.has(sessionId);
  }

  /** Ends the stream of a session that is over. */
  close(sessionId: string): void {
    const stream = this.streams.get(sessionId);
    if (stream === undefined) return;
    ended(stream.response);
    this.dropped(stream);
  }

  /** Ends all streams without reporting it: the run of the gateway ends, not the clients. */
  dispose(): void {
    this.disposed = true;
    clearInterval(this.comments);
    for (const { response } of this.streams.values()) response.end();
    this.streams.clear();
    this.closed.dispose();
  }

  private write(stream: StandingStream, part: Buffer | string): boolean {
    this.spoke.add(stream);
    return stream.response.write(part);
  }

  private dropped(stream: StandingStream): void {
    const { session } = stream;
    if (this.disposed || this.streams.get(session.id) !== stream) return;
    this.streams.delete(session.id);
    if (this.newest(session) === undefined) {
      this.options.fleet.report({ ...this.eventOf(session), kind: 'mcp stream closed' });
    }
    this.closed.fire(stream);
  }

  private eventOf(session: SessionRecord): {
    readonly at: number;
    readonly name: string;
    readonly server: string;
    readonly launchId: string;
    readonly session: string;
  } {
    const { agent: name, server, launchId } = session;
    return { at: this.options.clock(), name, server, launchId, session: sessionDigest(session.id) };
  }
}

/** A reader of a stream that is over has so long for the rest, in milliseconds; others wait until there is room. */
const restWithin = 3_000;

/** Ends a stream, also one that nobody reads. */
function ended(response: ServerResponse): void {
  const isFull = response.writableNeedDrain;
  response.end();
  if (!isFull) return;
  const limit = setTimeout(() => response.destroy(), restWithin).unref();
  response.on('close', () => {
    clearTimeout(limit);
  });
}

/** Resolves when `response` takes more, or nobody reads it any longer. */
export function drained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

export function sameEndpoint(left: EndpointOf, right: EndpointOf): boolean {
  return left.agent === right.agent && left.server === right.server && left.launchId === right.launchId;
}
