import type { IncomingHttpHeaders } from 'node:http';
import { DisposableObject, toDisposable } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import type { Caller } from '../mcp/endpointServer.ts';
import type { JsonRpcMessage } from '../mcp/jsonRpc.ts';
import type { SessionRecord } from '../mcp/sessionFile.ts';
import type { SessionStore } from '../mcp/sessionStore.ts';
import type { StandingStreams } from '../mcp/standingStreams.ts';
import type { UpstreamDefinitions } from './definition.ts';
import { ForwardedSession, type IntroductionTimes, type OpenUpstream } from './forward.ts';
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
  /** An upstream fails for this session, in these words; undefined: it works. */
  readonly failing: (session: Pick<SessionRecord, 'agent' | 'server' | 'launchId'>, reason: string | undefined) => void;
  readonly log: Log;
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
      upstreams.definitions.onDidChange(({ agent, server }) => {
        for (const one of this.open.values()) {
          if (one.caller.agent === agent && one.server === server) one.session.redefined();
        }
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

  /** What stands behind a session that is to be opened under this id, with this `initialize`. */
  create(id: string, caller: Caller, server: string, initialize: string): ForwardedSession {
    return this.openSession(id, caller, server, { initialize, digest: '', subscriptions: [] });
  }

  /** What stands behind this session, opened on first use: also for a session of an earlier run. */
  of(session: SessionRecord): ForwardedSession {
    const open = this.open.get(session.id);
    if (open !== undefined) return open.session;
    const { id, agent, launchId, server, upstream } = session;
    const record = upstream ?? { initialize: '', digest: '', subscriptions: [] };
    return this.openSession(id, { agent, launchId }, server, record);
  }

  /** The session was not opened after all. */
  drop(id: string): void {
    this.open.get(id)?.session.dispose();
    this.open.delete(id);
  }

  /** The agent's session is over. */
  end(session: SessionRecord): void {
    if (session.upstream === undefined) return;
    void this.of(session).end();
    this.open.delete(session.id);
  }

  private openSession(
    id: string,
    caller: Caller,
    server: string,
    record: SessionRecord['upstream'] & object,
  ): ForwardedSession {
    const { upstreams, sessions, streams, failing, log } = this.options;
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
      failing: (reason) => {
        failing({ ...caller, server }, reason);
      },
    });
    this.open.set(id, { session, caller, server });
    return session;
  }
}

/** Headers of the agent that go on to an upstream. All others stay here, the agent's key first of all. */
const passedHeaders = ['user-agent', 'accept-language', 'mcp-protocol-version', 'traceparent', 'tracestate', 'baggage'];

/** The headers of `headers` that an upstream gets. */
export function headersForUpstream(headers: IncomingHttpHeaders): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of passedHeaders) {
    const value = headers[name];
    if (typeof value === 'string') passed[name] = value;
  }
  return passed;
}

/** A message as an upstream gets it. */
export function agentMessage(body: Buffer, message: JsonRpcMessage, headers: IncomingHttpHeaders): AgentMessage {
  const passed = headersForUpstream(headers);
  if (!('method' in message)) return { body, reading: { kind: 'response', id: message.id }, headers: passed };
  const { method, params } = message;
  if ('id' in message) return { body, reading: { kind: 'request', id: message.id, method }, headers: passed };
  const cancels = method === 'notifications/cancelled' ? params?.['requestId'] : undefined;
  const names = typeof cancels === 'string' || typeof cancels === 'number';
  return { body, reading: { kind: 'notification', method, ...(names && { cancels }) }, headers: passed };
}
