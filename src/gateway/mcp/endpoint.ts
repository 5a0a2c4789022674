import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import { delay } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import { DisposableObject, toDisposable } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import { streamGoneForGood } from '../../core/binding/health.ts';
import { liveLaunchIds } from '../../core/fleet/agent.ts';
import { agentOf } from '../../core/fleet/state.ts';
import { sendEmpty, sendJson, sendRaw } from '../http/answers.ts';
import { readBody } from '../http/body.ts';
import { isJson } from '../http/checks.ts';
import { FailureLimit } from '../http/failureLimit.ts';
import { keyShown } from '../http/strangers.ts';
import type { AgentKeys, Clock, FleetPort } from '../ports.ts';
import { Forwarder, type Introduced, type Upstreams } from '../upstream/forwarder.ts';
import type { EndpointServer } from './endpointServer.ts';
import { type IdentityFault, type IdentityReading, readIdentity } from './identity.ts';
import { type JsonRpcRequest, readMessage, type RequestId, rpcCodes, rpcError } from './jsonRpc.ts';
import { Ledger } from './ledger.ts';
import type { Prober } from './prober.ts';
import { sessionRevisions } from './revisions.ts';
import { ServerChannel } from './serverChannel.ts';
import type { EndedBecause, SessionRecord } from './sessionFile.ts';
import { newSessionId, sessionDigest, type SessionStore } from './sessionStore.ts';
import { sameEndpoint, type StandingStreams } from './standingStreams.ts';

/**
 * Sessions that one launch may hold of one endpoint. A client leaves its former ones without a DELETE at each reconnect,
 * and uses two at once at times (measured, claude 2.1.160).
 */
const sessionsPerEndpoint = 8;

/** No upstream has a name that begins so. */
const ownPrefix = 'bowline-';

/** How long a client waits at most, in milliseconds, until an upstream has what is no request. */
const longestHold = 2_000;

const initializeSchema = z.object({
  protocolVersion: z.string(),
  clientInfo: z.object({ name: z.string(), version: z.string() }),
});

export interface McpEndpointOptions {
  readonly fleet: FleetPort;
  readonly keys: Pick<AgentKeys, 'ownerOf'>;
  readonly sessions: SessionStore;
  readonly streams: StandingStreams;
  readonly prober: Prober;
  /** Bowline's own. Every other server that is on for an agent is one of its upstreams. */
  readonly servers: readonly EndpointServer[];
  readonly upstreams: Upstreams;
  readonly clock: Clock;
  readonly log: Log;
}

/** An identified request on its way. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: string;
  readonly agent: string;
  readonly launchId: string;
}

/**
 * `/mcp/<server>`: MCP over streamable HTTP for the revisions 2024-11-05 to 2025-11-25, with sessions that outlive the
 * gateway. The stateless family (2026-07-28) would branch off at `server/discover`, which is declined.
 */
export class McpEndpoint extends DisposableObject {
  private readonly servers: ReadonlyMap<string, EndpointServer>;
  private readonly ledger: Ledger;
  private readonly forwarder: Forwarder;
  private readonly failures = new FailureLimit();
  private readonly channels = new Map<string, ServerChannel>();
  /** Sessions that had a stream in this run of the gateway. */
  private readonly streamed = new Set<string>();

  constructor(private readonly options: McpEndpointOptions) {
    super();
    this.servers = new Map(options.servers.map((server) => [server.name, server]));
    this.ledger = new Ledger(options.fleet, options.clock);
    const { upstreams, sessions, streams, log } = options;
    this.forwarder = this._register(
      new Forwarder({
        ...{ upstreams, sessions, streams, ledger: this.ledger, log },
      }),
    );
    this._register(
      toDisposable(() => {
        for (const channel of this.channels.values()) channel.dispose();
        this.channels.clear();
      }),
    );
  }

  /**
   * Serves one request for `server` (the decoded path segment). The caller has checked Host and Origin. Never rejects;
   * every answer is JSON or an event stream.
   */
  async handle(request: IncomingMessage, response: ServerResponse, server: string): Promise<void> {
    try {
      await this.route(request, response, server);
    } catch (error) {
      this.options.log.error('MCP request failed', { server, reason: messageOf(error) });
      sendJson(response, 500, rpcError(null, rpcCodes.internalError, 'Internal error of the Bowline gateway'));
    }
  }

  /** What stands behind the sessions with upstreams. */
  get upstreams(): Pick<Forwarder, 'update' | 'callOff'> {
    return this.forwarder;
  }

  /** Ends the sessions of launches that are over. To be called after such a change; safe at any time. */
  prune(): void {
    const { fleet, sessions } = this.options;
    const over = sessions.all().filter(({ agent: name, launchId }) => {
      const agent = agentOf(fleet.state, name);
      return agent === undefined || !liveLaunchIds(agent).includes(launchId);
    });
    void this.end(over, 'launch over');
  }

  private async route(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const { method } = request;
    if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') {
      const answer = rpcError(null, rpcCodes.badRequest, 'Method not allowed: use POST, GET or DELETE');
      sendJson(response, 405, answer, { allow: 'GET, POST, DELETE' });
      return;
    }
    const identity = this.identify(request, name);
    if (identity.kind === 'fault') {
      this.ledger.fault(identity, name, this.servers.has(name) ? 'served' : 'not served');
      this.refuseIdentity(claimedName(request, this.options.fleet.state.agents), response, identity);
      return;
    }
    keyShown(request);
    const exchange = { request, response, server: name, agent: identity.agent.name, launchId: identity.launchId };
    switch (method) {
      case 'POST':
        await this.post(exchange);
        break;
      case 'GET':
        await this.get(exchange);
        break;
      case 'DELETE':
        await this.delete(exchange);
        break;
    }
  }

  /** `name` is whose key was to be shown. */
  private refuseIdentity(name: string, response: ServerResponse, identity: IdentityFault): void {
    const { status, cause, sentence, nextStep } = identity;
    const text = `Bowline: ${sentence} ${nextStep}`;
    const wait = this.failures.failed(name);
    sendJson(
      response,
      wait === undefined ? status : 429,
      rpcError(null, rpcCodes.badRequest, text, { cause, nextStep }),
      wait === undefined ? {} : { 'retry-after': wait },
    );
  }

  private identify(request: IncomingMessage, server: string): IdentityReading {
    const { fleet, keys, sessions } = this.options;
    const sessionId = header(request, 'mcp-session-id');
    return readIdentity(
      {
        name: header(request, 'x-agent-name'),
        launch: header(request, 'x-agent-launch'),
        authorization: request.headers.authorization,
      },
      server,
      {
        agents: fleet.state.agents,
        ownerOf: (key) => keys.ownerOf(key),
        serves: (one) => this.servers.has(one) || !one.startsWith(ownPrefix),
        sessionOwner: sessionId === undefined ? undefined : sessions.get(sessionId)?.agent,
      },
    );
  }

  private async post(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    if (!isJson(request.headers)) {
      const sentence = 'Unsupported Media Type: send application/json, in UTF-8 and without a content encoding';
      sendJson(response, 415, rpcError(null, rpcCodes.badRequest, sentence));
      return;
    }
    const reading = await readBody(request);
    if (reading.kind === 'aborted') return;
    if (reading.kind === 'too large') {
      const answer = rpcError(null, rpcCodes.invalidRequest, 'Bowline takes messages of at most 16 MB');
      sendJson(response, 413, answer);
      return;
    }
    const read = readMessage(reading.body);
    if (read.kind === 'damaged') {
      sendJson(response, 400, rpcError(null, read.code, read.sentence));
      return;
    }
    if (read.kind === 'request' && read.message.method === 'initialize') {
      await this.initialize(exchange, read.message, reading.body);
      return;
    }
    if (read.kind === 'request' && read.message.method === 'server/discover') {
      // Today's Claude then goes on with 2025-11-25 (measured, claude 2.1.332).
      sendJson(response, 200, rpcError(read.message.id, rpcCodes.methodNotFound, 'Method not found'));
      return;
    }
    const id = read.kind === 'request' ? read.message.id : null;
    const session = this.findSession(exchange, id);
    if (session === undefined || !this.checkRevision(exchange, id)) return;
    if (read.kind === 'request') {
      await this.call(exchange, session, read.message, reading.body);
      return;
    }
    // The answer to a probe is told as such; that is the proof, too.
    const isTold = read.kind === 'response' && this.options.prober.answer(session, read.message.id);
    if (!isTold) this.ledger.proof(session);
    const builtIn = this.servers.get(session.server);
    // An upstream has it before the client goes on: some take no request before they know of the end of the handshake.
    if (!isTold && builtIn === undefined) {
      const sent = new AbortController();
      const passed = this.forwarder.answer(session, read.message, reading.body, request, response);
      const told = passed.finally(() => {
        sent.abort();
      });
      await Promise.race([told, delay(longestHold, sent.signal).catch(() => undefined)]);
    }
    sendEmpty(response, 202);
    if (!isTold && builtIn !== undefined) this.channelOf(session, builtIn).notify(read.message);
  }

  /** Always opens a new session, whatever id the request names. On disk before the client learns its id. */
  private async initialize(exchange: Exchange, message: JsonRpcRequest, body: Buffer): Promise<void> {
    const { request, response, server, agent, launchId } = exchange;
    const params = initializeSchema.safeParse(message.params);
    if (!params.success) {
      const answer = rpcError(message.id, rpcCodes.invalidParams, 'Invalid params: protocolVersion, clientInfo');
      sendJson(response, 200, answer);
      return;
    }
    // One of them is offered to a client that wants another.
    const wanted = sessionRevisions.find((version) => version === params.data.protocolVersion) ?? sessionRevisions[0];
    const id = newSessionId();
    const builtIn = this.servers.get(server);
    const introduced =
      builtIn === undefined
        ? await this.forwarder.introduce(request, { agent, launchId, server, id, body, wanted }, message.id)
        : introductionOf(builtIn, message.id, wanted);
    if (introduced.protocolVersion === undefined) {
      sendRaw(response, 200, introduced.answer);
      return;
    }
    const { protocolVersion, upstream } = introduced;
    const ofAgent = agentOf(this.options.fleet.state, agent);
    if (ofAgent === undefined || !liveLaunchIds(ofAgent).includes(launchId)) {
      // It ended while its server was asked, and nothing would end this session with it.
      this.forwarder.abandon(id);
      this.refuseSession(exchange, message.id);
      return;
    }
    const client = {
      name: params.data.clientInfo.name.slice(0, 100),
      version: params.data.clientInfo.version.slice(0, 100),
    };
    const opened = { agent, launchId, server, protocolVersion, client, createdAt: this.options.clock() };
    const session = await this.options.sessions.add({ ...opened, ...(upstream !== undefined && { upstream }) }, id);
    this.ledger.initialized(session);
    sendRaw(response, 200, introduced.answer, { 'mcp-session-id': session.id });
    this.limitSessions(session);
  }

  private async call(exchange: Exchange, session: SessionRecord, message: JsonRpcRequest, body: Buffer): Promise<void> {
    const { response } = exchange;
    if (this.shouldDialAnew(session)) {
      this.options.log.info('MCP session ended so that an old client opens a stream again', {
        agent: session.agent,
        server: session.server,
        session: sessionDigest(session.id),
      });
      void this.end([session], 'stream gone for good');
      this.refuseSession(exchange, message.id);
      return;
    }
    this.ledger.proof(session);
    const builtIn = this.servers.get(session.server);
    if (builtIn === undefined) {
      // That the client asked is the proof, whatever the upstream says to it.
      if (message.method === 'tools/list') await this.ledger.toolsListed(session);
      await this.forwarder.answer(session, message, body, exchange.request, response);
      return;
    }
    const answer = await this.channelOf(session, builtIn).request(message);
    if (message.method === 'tools/list' && 'result' in answer) await this.ledger.toolsListed(session);
    sendJson(response, 200, answer);
  }

  private async get(exchange: Exchange): Promise<void> {
    const session = this.findSession(exchange, null);
    if (session === undefined || !this.checkRevision(exchange, null)) return;
    const { request, response } = exchange;
    const { streams } = this.options;
    const isForwarded = !this.servers.has(session.server);
    const lastEventId = header(request, 'last-event-id');
    // A client that has its standing stream comes back for that of a request.
    if (isForwarded && lastEventId !== undefined && streams.has(session.id)) {
      if (await this.forwarder.resume(session, lastEventId, response)) return;
    }
    this.streamed.add(session.id);
    streams.open(session, request, response);
    if (isForwarded) this.forwarder.listen(session, lastEventId);
  }

  private async delete(exchange: Exchange): Promise<void> {
    const session = this.findSession(exchange, null);
    if (session === undefined) return;
    await this.end([session], 'deleted by the client');
    sendEmpty(exchange.response, 204);
  }

  /** The session that the request names, if it is this caller's; else answers 400 or 404. */
  private findSession(exchange: Exchange, id: RequestId | null): SessionRecord | undefined {
    const sessionId = header(exchange.request, 'mcp-session-id');
    if (sessionId === undefined || sessionId === '') {
      const answer = rpcError(id, rpcCodes.badRequest, 'Bad Request: the Mcp-Session-Id header is missing');
      sendJson(exchange.response, 400, answer);
      return undefined;
    }
    const session = this.options.sessions.get(sessionId);
    const { agent, launchId, server } = exchange;
    if (session === undefined || !sameEndpoint(session, { agent, launchId, server })) {
      this.refuseSession(exchange, id);
      return undefined;
    }
    return session;
  }

  private refuseSession(exchange: Exchange, id: RequestId | null): void {
    sendJson(exchange.response, 404, rpcError(id, rpcCodes.sessionNotFound, 'Session not found'));
  }

  private checkRevision(exchange: Exchange, id: RequestId | null): boolean {
    const version = header(exchange.request, 'mcp-protocol-version');
    if (version === undefined || sessionRevisions.some((known) => known === version)) return true;
    const sentence = `Bad Request: unsupported protocol version (supported: ${sessionRevisions.join(', ')})`;
    sendJson(exchange.response, 400, rpcError(id, rpcCodes.badRequest, sentence));
    return false;
  }

  /**
   * An old client that lost its stream keeps calling under its session id and never opens a stream again; a 404 makes it
   * initialise anew, repeat the call and open one, unseen by model and person (measured, claude 2.1.160). Only for a
   * session that had a stream: one that this answer brought about is never ended in its turn.
   */
  private shouldDialAnew(session: SessionRecord): boolean {
    const { fleet, clock, streams } = this.options;
    const { epoch, agents } = fleet.state;
    const record = agents[session.agent]?.bindings[session.server];
    if (epoch === undefined || record?.launchId !== session.launchId || streams.has(session.id)) return false;
    const hadStream = this.streamed.has(session.id) || session.createdAt < epoch.startedAt;
    return hadStream && streamGoneForGood(record, epoch, clock());
  }

  private limitSessions(latest: SessionRecord): void {
    const { sessions, streams } = this.options;
    const spare = sessions.all().filter((one) => sameEndpoint(one, latest) && !streams.has(one.id) && one !== latest);
    void this.end(spare.slice(0, Math.max(0, spare.length + 1 - sessionsPerEndpoint)), 'too many');
    // The last one may be used beside the latest.
    for (const session of spare.slice(0, -1)) this.forwarder.rest(session);
  }

  private async end(sessions: readonly SessionRecord[], reason: EndedBecause): Promise<void> {
    if (sessions.length === 0) return;
    const written = this.options.sessions.end(
      sessions.map(({ id }) => id),
      reason,
    );
    for (const session of sessions) {
      const { id } = session;
      this.forwarder.end(session);
      this.streamed.delete(id);
      this.channels.get(id)?.dispose();
      this.channels.delete(id);
      this.options.streams.close(id);
    }
    await written;
  }

  /** The session's way to its server, opened on first use: also for a session of an earlier run, and only once. */
  private channelOf(session: SessionRecord, server: EndpointServer): ServerChannel {
    const open = this.channels.get(session.id);
    if (open !== undefined) return open;
    const { agent, launchId } = session;
    const channel = new ServerChannel(
      server,
      { agent, launchId },
      (message) => {
        this.options.streams.send(session.id, message);
      },
      (reason) => {
        this.ledger.upstream(session, reason);
      },
    );
    this.channels.set(session.id, channel);
    return channel;
  }
}

function introductionOf({ introduction }: EndpointServer, id: RequestId, protocolVersion: string): Introduced {
  const result = { protocolVersion, ...introduction };
  return { protocolVersion, answer: JSON.stringify({ jsonrpc: '2.0', id, result }) };
}

/** The agent that a request says it is of; empty where there is none of that name, so that nobody fills the memory. */
function claimedName(request: IncomingMessage, agents: Readonly<Record<string, unknown>>): string {
  const name = header(request, 'x-agent-name') ?? '';
  return Object.hasOwn(agents, name) ? name : '';
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
