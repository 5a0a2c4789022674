import type { Event } from '../../../base/events.ts';
import { type Disposable, toDisposable } from '../../../base/lifecycle.ts';
import { type RequestId, rpcCodes, rpcError } from '../../mcp/jsonRpc.ts';
import { sessionRevisions } from '../../mcp/revisions.ts';
import { memberOf } from '../pipeExchanges.ts';
import type { AgentMessage, AnswerSink, EventSink, ExchangeOutcome, UpstreamSession } from '../upstreamSession.ts';
import type { ServerSide } from './discovery.ts';
import type { ListenFilter } from './listenStream.ts';
import { Reply, RoundSink } from './reply.ts';
import { parameter } from './requests.ts';
import { answerTo, Rounds, type RoundsOptions } from './rounds.ts';
import { StatelessListener } from './statelessListener.ts';

/** Notifications of clients that the stateless revision has no more. A cancelled request is taken back with its sink. */
const untold: readonly string[] = [
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
];

export interface StatelessSessionOptions extends RoundsOptions {
  readonly server: ServerSide;
  readonly onDidInvalidate: Event<void>;
}

type Request = Extract<AgentMessage['reading'], { readonly kind: 'request' }>;

/**
 * A session of the revisions up to 2025-11-25 towards an agent, on an upstream of revision 2026-07-28, which has none:
 * what the agent said once is said with each request, what it is asked comes as requests, and what it subscribes to is
 * listened to. A later run of the gateway begins it anew, which costs one request.
 */
export class StatelessSession implements UpstreamSession {
  readonly resumption = undefined;
  private readonly rounds: Rounds;
  private readonly subscriptions = new Set<string>();
  private listener: StatelessListener | undefined;
  private lastId = 0;

  constructor(private readonly options: StatelessSessionOptions) {
    this.rounds = new Rounds(options);
  }

  /** The answer to the client's `initialize`. */
  introduction(initialize: string): string {
    const { client, server, opening } = this.options;
    const protocolVersion = sessionRevisions.find((one) => one === client.protocolVersion) ?? sessionRevisions[0];
    const { capabilities, info, instructions } = server;
    const serverInfo = info ?? { name: opening.server, version: 'unknown' };
    const result = { protocolVersion, capabilities, serverInfo, ...(instructions !== undefined && { instructions }) };
    return answerTo(initialize, JSON.stringify({ jsonrpc: '2.0', id: 0, result }));
  }

  async exchange(message: AgentMessage, sink: AnswerSink): Promise<ExchangeOutcome> {
    const { reading, body } = message;
    switch (reading.kind) {
      case 'response':
        this.rounds.answered(reading.id, body);
        return { kind: 'answered' };
      case 'notification':
        if (untold.includes(reading.method)) return { kind: 'answered' };
        return this.options.carrier.exchange(this.options.client.translated(message), sink);
      case 'request':
        return this.request(message, reading, sink);
    }
  }

  listen(sink: EventSink): Disposable {
    this.listener?.dispose();
    const { carrier, client, opening, onDidInvalidate } = this.options;
    const listener = new StatelessListener({
      ask: (id, notifications, heard) =>
        carrier.exchange(client.request(id, 'subscriptions/listen', { notifications }), heard),
      wanted: () => this.wanted,
      failing: (reason) => {
        opening.host.failing(reason);
      },
      ...{ sink, onDidInvalidate },
    });
    this.listener = listener;
    void listener.renew();
    return toDisposable(() => {
      listener.dispose();
      if (this.listener === listener) this.listener = undefined;
    });
  }

  end(): void {
    this.listener?.dispose();
    this.rounds.dispose();
    this.options.carrier.end();
  }

  dispose(): void {
    this.listener?.dispose();
    this.rounds.dispose();
    this.options.carrier.dispose();
  }

  private async request(message: AgentMessage, reading: Request, sink: AnswerSink): Promise<ExchangeOutcome> {
    const text = message.body.toString('utf8');
    switch (reading.method) {
      case 'ping':
        return this.ping(reading.id, sink);
      case 'logging/setLevel': {
        const level = parameter(text, 'level');
        if (level !== undefined) this.options.client.logLevel = level;
        return done(reading.id, sink);
      }
      case 'resources/subscribe':
        return this.subscribe(reading.id, parameter(text, 'uri') ?? '', sink);
      case 'resources/unsubscribe':
        if (this.subscriptions.delete(parameter(text, 'uri') ?? '')) void this.listener?.renew();
        return done(reading.id, sink);
      default:
        return this.rounds.run(message, reading, sink);
    }
  }

  /** What every server of the revision has to answer stands for what it has no more. */
  private async ping(id: RequestId, sink: AnswerSink): Promise<ExchangeOutcome> {
    const { carrier, client } = this.options;
    const asked = this.newId('ping');
    const heard = new RoundSink(asked, new Reply(sink));
    const outcome = await carrier.exchange(client.request(asked, 'server/discover', {}), heard);
    return outcome.kind === 'answered' ? done(id, sink) : outcome;
  }

  /** Where the agent has no standing stream there is nobody to be told, and nothing is asked for yet. */
  private async subscribe(id: RequestId, uri: string, sink: AnswerSink): Promise<ExchangeOutcome> {
    if (this.subscriptions.has(uri)) return done(id, sink);
    this.subscriptions.add(uri);
    if (this.listener === undefined) return done(id, sink);
    const told = await this.listener.renew();
    if (told?.resourceSubscriptions?.includes(uri) === true) return done(id, sink);
    this.subscriptions.delete(uri);
    if (told === undefined) return { kind: 'unreachable', reason: 'it did not take the subscription' };
    fail(id, rpcCodes.invalidParams, `${this.name} does not tell of changes of ${uri}`, sink);
    return { kind: 'answered' };
  }

  private newId(what: string): string {
    return `bowline-${what}-${++this.lastId}`;
  }

  private get wanted(): ListenFilter {
    const { capabilities } = this.options.server;
    const tells = (list: string): boolean => memberOf(memberOf(capabilities, list), 'listChanged') === true;
    return {
      ...(tells('tools') && { toolsListChanged: true }),
      ...(tells('prompts') && { promptsListChanged: true }),
      ...(tells('resources') && { resourcesListChanged: true }),
      ...(this.subscriptions.size > 0 && { resourceSubscriptions: [...this.subscriptions] }),
    };
  }

  private get name(): string {
    return `The MCP server "${this.options.opening.server}"`;
  }
}

function done(id: RequestId, sink: AnswerSink): ExchangeOutcome {
  sink.json(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
  return { kind: 'answered' };
}

function fail(id: RequestId, code: number, sentence: string, sink: AnswerSink): void {
  sink.json(JSON.stringify(rpcError(id, code, sentence)));
}
