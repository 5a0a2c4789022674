import { delay } from '../../../base/async.ts';
import type { Disposable } from '../../../base/lifecycle.ts';
import type { Log } from '../../../base/log.ts';
import { type RequestId, rpcCodes, rpcError } from '../../mcp/jsonRpc.ts';
import { idSpan, withId } from '../pipeId.ts';
import type {
  AgentMessage,
  AnswerSink,
  ExchangeOutcome,
  UpstreamOpening,
  UpstreamSession,
} from '../upstreamSession.ts';
import { InputRequests } from './inputs.ts';
import { Reply, RoundSink } from './reply.ts';
import { type ClientSide, members, parameter, type Variation } from './requests.ts';
import { type AnswerReading, readAnswer } from './results.ts';
import { KnownTools } from './tools.ts';

/** A request that needs input again and again is given up, as the SDKs of MCP do. */
const mostRounds = 10;

/** Before a request is repeated that needed nothing of the client, in milliseconds. */
const roundWait = 250;

/** Of one list of tools that is read for a call. */
const mostPages = 20;

export interface RoundsOptions {
  /** Carries messages of the stateless revision: every one stands for itself. */
  readonly carrier: UpstreamSession;
  readonly opening: UpstreamOpening;
  readonly client: ClientSide;
  readonly log: Log;
}

type Request = Extract<AgentMessage['reading'], { readonly kind: 'request' }>;

/** Requests of the agent to an upstream of the stateless revision, each with as many ways there and back as it needs. */
export class Rounds implements Disposable {
  private readonly inputs = new InputRequests();
  private readonly tools: KnownTools;
  private lastId = 0;

  constructor(private readonly options: RoundsOptions) {
    const { log, opening } = options;
    this.tools = new KnownTools((tool, reason) => {
      log.warn('a tool of an upstream is not offered', { server: opening.server, tool, reason });
    });
  }

  /** A response of the agent to what it was asked. */
  answered(id: RequestId, body: Buffer): void {
    this.inputs.answered(id, body);
  }

  dispose(): void {
    this.inputs.dispose();
  }

  /** Sends a request as often as the upstream needs input for it, and answers it. */
  async run(message: AgentMessage, reading: Request, sink: AnswerSink): Promise<ExchangeOutcome> {
    const text = message.body.toString('utf8');
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

  private get name(): string {
    return `The MCP server "${this.options.opening.server}"`;
  }
}

/** A response with the id of the request, as that spells it. */
export function answerTo(request: string, response: string): string {
  const span = idSpan(request);
  return span === undefined ? response : withId(response, request.slice(span.start, span.end));
}

const nobody: AnswerSink = {
  json: () => undefined,
  events: () => true,
  drained: () => Promise.resolve(),
  onGone: () => undefined,
};
