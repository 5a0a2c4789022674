import { delay } from '../../../base/async.ts';
import type { Event } from '../../../base/events.ts';
import { type Disposable, toDisposable } from '../../../base/lifecycle.ts';
import type { Log } from '../../../base/log.ts';
import { type RequestId, rpcCodes, rpcError } from '../../mcp/jsonRpc.ts';
import { sessionRevisions } from '../../mcp/revisions.ts';
import { memberSpan, memberValue } from '../jsonMembers.ts';
import { memberOf } from '../pipeExchanges.ts';
import { idSpan, withId } from '../pipeId.ts';
import type {
  AgentMessage,
  AnswerSink,
  EventSink,
  ExchangeOutcome,
  UpstreamOpening,
  UpstreamSession,
} from '../upstreamSession.ts';
import type { ServerSide } from './discovery.ts';
import { InputRequests } from './inputs.ts';
import type { ListenFilter } from './listenStream.ts';
import { Reply, RoundSink } from './reply.ts';
import { type ClientSide, members, type Variation } from './requests.ts';
import { type AnswerReading, readAnswer } from './results.ts';
import { StatelessListener } from './statelessListener.ts';
import { KnownTools } from './tools.ts';

/** A request that needs input again and again is given up, as the SDKs of MCP do. */
const mostRounds = 10;

/** Before a request is repeated that needed nothing of the client, in milliseconds. */
const roundWait = 250;

/** Of one list of tools that is read for a call. */
const mostPages = 20;

/** Notifications of clients that the stateless revision has no more. A cancelled request is taken back with its sink. */
const untold: readonly string[] = [
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
];

export interface StatelessSessionOptions {
  /** Carries messages of the stateless revision: every one stands for itself. */
  readonly carrier: UpstreamSession;
  readonly opening: UpstreamOpening;
  readonly client: ClientSide;
  readonly server: ServerSide;
  readonly onDidInvalidate: Event<void>;
  readonly log: Log;
}

type Request = Extract<AgentMessage['reading'], { readonly kind: 'request' }>;

/**
 * A session of the revisions up to 2025-11-25 towards an agent, on an upstream of revision 2026-07-28, which has none:
 * what the agent said once is said with each request, what it is asked comes as requests, and what it subscribes to is
 * listened to. A later run of the gateway begins it anew, which costs one request.
 */
export class StatelessSession implements UpstreamSession {
  readonly resumption = undefined;
  private readonly inputs = new InputRequests();
  private readonly tools: KnownTools;
  private readonly subscriptions = new Set<string>();
  private listener: StatelessListener | undefined;
  private lastId = 0;

  constructor(private readonly options: StatelessSessionOptions) {
    const { log, opening } = options;
    this.tools = new KnownTools((tool, reason) => {
      log.warn('a tool of an upstream is not offered', { server: opening.server, tool, reason });
    });
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
        this.inputs.answered(reading.id, body);
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
    this.inputs.dispose();
    this.options.carrier.end();
  }

  dispose(): void {
    this.listener?.dispose();
    this.inputs.dispose();
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
        return this.rounds(message, reading, text, sink);
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

  /** Sends a request as often as the upstream needs input for it, and answers it. */
  private async rounds(
    message: AgentMessage,
    reading: Request,
    text: string,
    sink: AnswerSink,
  ): Promise<ExchangeOutcome> {
    const reply = new Reply(sink);
    let isOver = false;
    const isGone = (): boolean => isOver;
    const gone = new Promise<void>((resolve) => {
      sink.onGone(() => {
        isOver = true;
        resolve();
      });
    });
    const failed = (code: number, problem: string): ExchangeOutcome => {
      reply.answer(JSON.stringify(rpcError(reading.id, code, `${this.name} ${problem}`)));
      return { kind: 'answered' };
    };
    let more: string | undefined;
    for (let round = 0; round < mostRounds; round++) {
      const answer = await this.round(message, reading, more, reply);
      switch (answer.kind) {
        case 'outcome':
          return answer.outcome;
        case 'header mismatch':
        case 'final':
          reply.answer(
            answerTo(text, reading.method === 'tools/list' ? this.tools.read(answer.text).text : answer.text),
          );
          return { kind: 'answered' };
        case 'invalid':
          return failed(rpcCodes.internalError, answer.problem);
        case 'input required': {
          const { inputRequests, requestState } = answer.input;
          const asks = Object.keys(inputRequests).length > 0;
          const given = await this.inputs.ask(inputRequests, (request) => reply.event(request), gone);
          if (!asks) await delay(roundWait);
          if (isGone()) return { kind: 'answered' };
          if (given.kind === 'none') return failed(given.code, given.problem);
          more = members({
            ...(asks && { inputResponses: given.responses }),
            ...(requestState !== undefined && { requestState }),
          });
        }
      }
    }
    return failed(rpcCodes.internalError, `still needs input after ${mostRounds} rounds of it`);
  }

  /** One way of a request there and back. What it was refused for its headers is read anew, and they are said then. */
  private async round(
    message: AgentMessage,
    reading: Request,
    params: string | undefined,
    reply: Reply,
  ): Promise<AnswerReading | { readonly kind: 'outcome'; readonly outcome: ExchangeOutcome }> {
    const tool = reading.method === 'tools/call' ? parameter(message.body.toString('utf8'), 'name') : undefined;
    let headers = this.tools.headersFor(tool, message.body);
    for (let again = false; ; again = true) {
      // Each way is a request of its own, with an id of its own.
      const id = params === undefined && !again ? undefined : this.newId('round');
      const answer = await this.send(message, reading, reply, {
        headers,
        ...(id && { id }),
        ...(params && { params }),
      });
      if (answer.kind !== 'header mismatch' || tool === undefined || again) return answer;
      await this.readTools();
      const known = this.tools.headersFor(tool, message.body);
      if (JSON.stringify(known) === JSON.stringify(headers)) return answer;
      headers = known;
    }
  }

  private async send(
    message: AgentMessage,
    reading: Request,
    reply: Reply,
    variation: Variation,
  ): Promise<AnswerReading | { readonly kind: 'outcome'; readonly outcome: ExchangeOutcome }> {
    const heard = new RoundSink(variation.id ?? reading.id, reply);
    const outcome = await this.options.carrier.exchange(this.options.client.translated(message, variation), heard);
    const { response } = heard;
    return outcome.kind !== 'answered' || response === undefined
      ? { kind: 'outcome', outcome }
      : readAnswer(reading.method, response);
  }

  private async readTools(): Promise<void> {
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const id = this.newId('tools');
      const params = cursor === undefined ? {} : { cursor };
      const heard = new RoundSink(id, new Reply(nobody));
      await this.options.carrier.exchange(this.options.client.request(id, 'tools/list', params), heard);
      cursor = heard.response === undefined ? undefined : this.tools.read(heard.response).nextCursor;
      if (cursor === undefined) return;
    }
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

/** A response with the id of the request, as that spells it. */
function answerTo(request: string, response: string): string {
  const span = idSpan(request);
  return span === undefined ? response : withId(response, request.slice(span.start, span.end));
}

function done(id: RequestId, sink: AnswerSink): ExchangeOutcome {
  sink.json(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
  return { kind: 'answered' };
}

function fail(id: RequestId, code: number, sentence: string, sink: AnswerSink): void {
  sink.json(JSON.stringify(rpcError(id, code, sentence)));
}

/** A parameter of a message that is a text. */
function parameter(text: string, name: string): string | undefined {
  const params = memberSpan(text, 'params');
  const value = params === undefined ? undefined : memberValue(text, name, params.start);
  return typeof value === 'string' ? value : undefined;
}

const nobody: AnswerSink = {
  json: () => undefined,
  events: () => true,
  drained: () => Promise.resolve(),
  onGone: () => undefined,
};
