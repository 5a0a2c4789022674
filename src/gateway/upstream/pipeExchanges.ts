import type { RequestId } from '../mcp/jsonRpc.ts';
import { idSpan } from './pipeId.ts';
import type { AgentMessage, AnswerSink, ExchangeOutcome } from './upstreamSession.ts';

/** A request of the agent that has no answer yet. */
export interface OpenRequest {
  /** Under which the server knows it; used once in the life of a session. */
  readonly id: number;
  readonly agentId: RequestId;
  /** The agent's id as it spelled it. */
  readonly agentIdText: string;
  readonly method: string;
  readonly progressToken: RequestId | undefined;
  readonly sink: AnswerSink;
  /** Events went into the sink: the answer is to be one, too. */
  isStreaming: boolean;
  /** Undefined while it is open. */
  outcome: ExchangeOutcome | undefined;
  /** Something was heard of it. */
  heard: () => void;
  readonly settled: Promise<ExchangeOutcome>;
  settle(outcome: ExchangeOutcome): void;
}

/**
 * Pairs both sides of one session. Neither side's ids reach the other: an answer counts only for the one request that it
 * names, once, whatever ids an agent uses twice and whatever a server answers.
 */
export class PipeExchanges {
  private readonly requests = new Map<number, OpenRequest>();
  private lastId = 0;
  private lastServerId = 0;
  /** Requests of the server that the agent has not answered: its id as it spelled it, by the id that the agent knows. */
  private readonly serverRequests = new Map<string, string>();

  /** `prefix` makes the ids of the server's requests unlike all others that this agent ever gets. */
  constructor(private readonly prefix: string) {}

  begin(message: AgentMessage, text: string, sink: AnswerSink): OpenRequest {
    const { reading } = message;
    if (reading.kind !== 'request') throw new Error(`a ${reading.kind} gets no answer`);
    const id = ++this.lastId;
    const span = idSpan(text);
    let settle: (outcome: ExchangeOutcome) => void = () => undefined;
    const request: OpenRequest = {
      id,
      agentId: reading.id,
      agentIdText: span === undefined ? JSON.stringify(reading.id) : text.slice(span.start, span.end),
      method: reading.method,
      progressToken: text.includes('progressToken') ? progressTokenOf(JSON.parse(text)) : undefined,
      sink,
      isStreaming: false,
      outcome: undefined,
      heard: () => undefined,
      settled: new Promise((resolve) => (settle = resolve)),
      settle: (outcome) => {
        if (request.outcome !== undefined) return;
        request.outcome = outcome;
        this.requests.delete(id);
        settle(outcome);
      },
    };
    this.requests.set(id, request);
    return request;
  }

  /** Oldest first. */
  get open(): readonly OpenRequest[] {
    return [...this.requests.values()];
  }

  /** The open request that the server names, as in its answer. Only a number is an id that was given. */
  ofServer(id: unknown): OpenRequest | undefined {
    return typeof id === 'number' ? this.requests.get(id) : undefined;
  }

  /** Whether an id was ever under way: an answer may come late, or again. */
  wasGiven(id: unknown): boolean {
    return typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= this.lastId;
  }

  /** The agent's open request of this id; of several the one that was made last. */
  ofAgent(id: RequestId): OpenRequest | undefined {
    return this.open.findLast((request) => request.agentId === id);
  }

  /** The open request that progress with this token belongs to. */
  ofToken(token: unknown): OpenRequest | undefined {
    return token === undefined ? undefined : this.open.findLast((request) => request.progressToken === token);
  }

  get unansweredByAgent(): number {
    return this.serverRequests.size;
  }

  /** Under which id, as JSON, the agent gets to know a request of the server, whose own id is given as it spelled it. */
  serverAsks(idText: string): string {
    const id = `${this.prefix}${++this.lastServerId}`;
    this.serverRequests.set(id, idText);
    return JSON.stringify(id);
  }

  /** The server's id of the request that the agent answers; undefined: it is none of this session, or was answered. */
  agentAnswers(id: RequestId): string | undefined {
    const idText = typeof id === 'string' ? this.serverRequests.get(id) : undefined;
    if (typeof id === 'string') this.serverRequests.delete(id);
    return idText;
  }

  /** The id that the agent knows of a request that the server takes back; it needs no answer any more. */
  serverTakesBack(id: unknown): string | undefined {
    const found = [...this.serverRequests].find(([, idText]) => JSON.parse(idText) === id);
    if (found !== undefined) this.serverRequests.delete(found[0]);
    return found?.[0];
  }
}

function progressTokenOf(message: unknown): RequestId | undefined {
  const token = memberOf(memberOf(memberOf(message, 'params'), '_meta'), 'progressToken');
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** A member of an object; undefined of anything else. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (Reflect.get(value, name) as unknown)
    : undefined;
}
