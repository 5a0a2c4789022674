import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { DisposableObject, toDisposable } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import { sendJson } from '../http/answers.ts';
import type { Caller } from '../mcp/endpointServer.ts';
import { type JsonRpcMessage, type RequestId, rpcCodes, rpcError } from '../mcp/jsonRpc.ts';
import type { Ledger, Update } from '../mcp/ledger.ts';
import type { SessionRecord, UpstreamRecord } from '../mcp/sessionFile.ts';
import type { SessionStore } from '../mcp/sessionStore.ts';
import type { StandingStreams } from '../mcp/standingStreams.ts';
import type { UpstreamDefinitions, UpstreamName } from './definition.ts';
import { ForwardedSession, type IntroductionTimes, type OpenUpstream } from './forward.ts';
import { ResponseSink } from './forwardAnswer.ts';
import { provisionalIntroduction } from './reinitialise.ts';
import type { AgentMessage } from './upstreamSession.ts';

/** The servers that are not Bowline's: which there are, and how they are reached. */
export interface Upstreams {
  readonly definitions: UpstreamDefinitions;
  readonly open: OpenUpstream;
  /** Called before each message: what must be known about connections by then. */
  readonly beforeUse: () => void;
  readonly times?: IntroductionTimes;
}

export interface ForwarderOptions {
  readonly upstreams: Upstreams;
  readonly sessions: SessionStore;
  readonly streams: StandingStreams;
  readonly ledger: Pick<Ledger, 'upstream' | 'detached' | 'isUpdateDue' | 'shortened'>;
  readonly log: Log;
}

/** An agent's session that is to be opened. */
export interface SessionOpening extends Caller {
  readonly server: string;
  readonly id: string;
  /** The client's `initialize`, as it came. */
  readonly body: Buffer;
  /** The revision that the gateway would settle on. */
  readonly wanted: string;
}

/** What a new session begins with. `protocolVersion` undefined: it does not, and this is the error that says so. */
export interface Introduced {
  /** The answer to `initialize`, as JSON. */
  readonly answer: string;
  readonly protocolVersion: string | undefined;
  readonly upstream?: UpstreamRecord;
}

/** What stands behind the MCP sessions of agents with upstreams, by the id of the agent's session. */
export class Forwarder extends DisposableObject {
  private readonly open = new Map<
    string,
    { readonly session: ForwardedSession; readonly caller: Caller; readonly server: string }
  >();

  constructor(private readonly options: ForwarderOptions) {
    super();
    const { upstreams, streams } = options;
    this._register(
      upstreams.definitions.onDidChange((name) => {
        void this.update(name, { why: 'changed' });
      }),
    );
    this._register(
      streams.onDidClose(({ session: { id } }) => {
        if (!streams.has(id)) this.open.get(id)?.session.unlisten();
      }),
    );
    this._register(
      toDisposable(() => {
        for (const { session } of this.open.values()) session.dispose();
        this.open.clear();
      }),
    );
  }

  /**
   * Opens a session of the upstream for one that the agent is to have. The upstream's own answer to `initialize`; one of
   * the gateway where it cannot be asked now, so that the agent's client never gives it up.
   */
  async introduce(request: IncomingMessage, opening: SessionOpening, requestId: RequestId): Promise<Introduced> {
    const { id, agent, launchId, server, body, wanted } = opening;
    const record = { initialize: body.toString('utf8'), digest: '', subscriptions: [] };
    const forwarded = this.openSession(id, { agent, launchId }, server, record);
    const introduction = await forwarded.begin(headersForUpstream(request.headers));
    const upstream = forwarded.kept;
    switch (introduction.kind) {
      case 'introduced':
        return { answer: introduction.message, protocolVersion: introduction.protocolVersion, upstream };
      case 'failed':
        return { answer: provisionalIntroduction(requestId, server, wanted), protocolVersion: wanted, upstream };
      case 'declined':
        this.abandon(id);
        return { answer: introduction.message, protocolVersion: undefined };
    }
  }

  /** What {@link introduce} opened is not wanted: the agent never learns of this session. */
  abandon(id: string): void {
    void this.open.get(id)?.session.end();
    this.open.delete(id);
  }

  /** Sends a message of the agent on. A request is answered by this; anything else is taken when it resolves. */
  async answer(
    session: SessionRecord,
    message: JsonRpcMessage,
    body: Buffer,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const sink = new ResponseSink(response, { 'mcp-session-id': session.id });
    const outcome = await this.of(session).post(agentMessage(body, message, request.headers), sink);
    if ('method' in message && 'id' in message) sink.conclude(message.id, outcome, session.server);
  }

  /** Goes on with the stream of an earlier request. False: there is no such thing here, and nothing was answered. */
  async resume(session: SessionRecord, lastEventId: string, response: ServerResponse): Promise<boolean> {
    const sink = new ResponseSink(response, { 'mcp-session-id': session.id });
    const outcome = await this.of(session).resume(lastEventId, sink);
    if (outcome === undefined) return false;
    if (sink.isStream) sink.end();
    else sendJson(response, 400, rpcError(null, rpcCodes.badRequest, 'The stream cannot be resumed'));
    return true;
  }

  /**
   * Another connection to this upstream of an agent, for each session in which the agent would notice its end: what there
   * was is detached, then a new one is attached as the upstream is defined by now, and verified. Resolves with whether
   * there is such a session, when the fleet knows of it.
   */
  async update({ agent, server }: UpstreamName, update: Update): Promise<boolean> {
    const { sessions, streams, ledger } = this.options;
    const known = sessions.all().filter((one) => one.agent === agent && one.server === server);
    const listening = known.filter(({ id }) => streams.has(id));
    const inUse = listening.length > 0 ? listening : known.slice(-1);
    const told = inUse.map((session) => ledger.detached(session, update));
    for (const [id, { session, caller, server: name }] of this.open) {
      if (caller.agent === agent && name === server) session.detach(update.why === 'asked' ? 'ends' : 'goes on');
      // Its handshake with the client is under way.
      if (!known.some((one) => one.id === id)) session.attachAnew();
    }
    for (const session of inUse) this.of(session).attachAnew();
    await Promise.all(told);
    return inUse.length > 0;
  }

  /** Leaves to the next message what {@link update} has not attached yet. */
  callOff({ agent, server }: UpstreamName): void {
    for (const { session, caller, server: name } of this.open.values()) {
      if (caller.agent === agent && name === server) session.callOff();
    }
  }

  /** Nobody is known to use this session any more: what lives for it alone ends. */
  rest({ id }: SessionRecord): void {
    this.open.get(id)?.session.rest();
  }

  /** The agent has a standing stream from now on; `lastEventId` is where its former one ended. */
  listen(session: SessionRecord, lastEventId: string | undefined): void {
    this.of(session).listen(lastEventId);
  }

  /** The agent's session is over. */
  end(session: SessionRecord): void {
    if (session.upstream === undefined) return;
    void this.of(session).end();
    this.open.delete(session.id);
  }

  /** What stands behind this session, opened on first use: also for a session of an earlier run. */
  private of(session: SessionRecord): ForwardedSession {
    const open = this.open.get(session.id);
    if (open !== undefined) return open.session;
    const { id, agent, launchId, server, upstream } = session;
    const { resumption, ...record } = upstream ?? { initialize: '', digest: '', subscriptions: [] };
    // Where an update is due, the connection of before is not gone on with.
    const goesOn = resumption !== undefined && !this.options.ledger.isUpdateDue(session);
    return this.openSession(id, { agent, launchId }, server, goesOn ? { ...record, resumption } : record);
  }

  private openSession(id: string, caller: Caller, server: string, record: UpstreamRecord): ForwardedSession {
    const { upstreams, sessions, streams, ledger, log } = this.options;
    const session = new ForwardedSession({
      ...{ server, caller, record, log },
      ...{ definitions: upstreams.definitions, open: upstreams.open },
      ...(upstreams.times !== undefined && { times: upstreams.times }),
      beforeUse: upstreams.beforeUse,
      changed: (changed) => {
        sessions.keepUpstream(id, changed);
      },
      standing: {
        events: (part) => streams.events(id, part),
        drained: () => streams.drained(id),
      },
      shortened: (tools) => {
        ledger.shortened({ ...caller, server }, tools);
      },
      failing: (reason, roundTripMs) => {
        ledger.upstream({ ...caller, server }, reason, roundTripMs);
      },
    });
    this.open.set(id, { session, caller, server });
    return session;
  }
}

/** Headers of the agent that go on to an upstream. All others stay here, the agent's key first of all. */
const passedHeaders = ['user-agent', 'accept-language', 'mcp-protocol-version', 'traceparent', 'tracestate', 'baggage'];

/** The headers of `headers` that an upstream gets. */
function headersForUpstream(headers: IncomingHttpHeaders): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of passedHeaders) {
    const value = headers[name];
    if (typeof value === 'string') passed[name] = value;
  }
  return passed;
}

/** A message as an upstream gets it. */
function agentMessage(body: Buffer, message: JsonRpcMessage, headers: IncomingHttpHeaders): AgentMessage {
  const passed = headersForUpstream(headers);
  if (!('method' in message)) return { body, reading: { kind: 'response', id: message.id }, headers: passed };
  const { method, params } = message;
  if ('id' in message) return { body, reading: { kind: 'request', id: message.id, method }, headers: passed };
  const cancels = method === 'notifications/cancelled' ? params?.['requestId'] : undefined;
  const names = typeof cancels === 'string' || typeof cancels === 'number';
  return { body, reading: { kind: 'notification', method, ...(names && { cancels }) }, headers: passed };
}
