import type { Disposable } from '../../base/lifecycle.ts';
import type { Caller } from '../mcp/endpointServer.ts';
import type { RequestId } from '../mcp/jsonRpc.ts';
import type { UpstreamDefinition } from './definition.ts';

/** One JSON-RPC message of the agent. */
export interface AgentMessage {
  /** As it came: valid JSON, which goes on byte for byte. It may have line breaks between its tokens. */
  readonly body: Buffer;
  /** What was read of it. `cancels` is the request that `notifications/cancelled` names. */
  readonly reading:
    | { readonly kind: 'request'; readonly id: RequestId; readonly method: string }
    | { readonly kind: 'notification'; readonly method: string; readonly cancels?: RequestId }
    | { readonly kind: 'response'; readonly id: RequestId };
  /** Headers of the agent's request that an upstream over HTTP gets, in lower case; chosen by a list. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Where an event stream goes: a request's own, or the agent's standing one. */
export interface EventSink {
  /**
   * Takes a part of an event stream as `text/event-stream` spells it, whole events or not. False: it is full, and whoever
   * writes more before {@link drained} fills the memory.
   */
  events(part: Buffer | string): boolean;
  /** Resolves when there is room again, and when nobody reads any more. */
  drained(): Promise<void>;
}

/**
 * How a request of the agent gets its answer: either {@link json} once, or {@link events} until the exchange is over. For
 * a notification and a response nothing is written.
 */
export interface AnswerSink extends EventSink {
  /** The whole answer: one JSON-RPC message. */
  json(message: Buffer | string): void;
  /** Calls back once when the agent waits no longer: it hung up, cancelled, or its session ended. */
  onGone(listener: () => void): void;
}

/** How an exchange ended. `reason` is for a person, without a full stop: `connect ECONNREFUSED 127.0.0.1:4000`. */
export type ExchangeOutcome =
  /** The request's answer is in the sink; the upstream has taken the notification or the response; or the agent is gone. */
  | { readonly kind: 'answered' }
  /** The upstream knows this session no more and has processed nothing of the message. */
  | { readonly kind: 'session lost'; readonly reason: string }
  /** Nothing was processed. `refused` will not work until a person changes something; `unreachable` may pass. */
  | { readonly kind: 'refused' | 'unreachable'; readonly reason: string }
  /** It may have been processed. The sink may hold a part of the answer. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** What an upstream's session tells outside of an exchange. Nothing after its disposal. */
export interface UpstreamHost {
  /** The upstream fails, in these words; undefined: it works. As often as it is found out. */
  failing(reason: string | undefined): void;
  /** This session is over (its process ended, the upstream forgot it); every exchange from now on ends `session lost`. */
  lost(reason: string): void;
  /** The upstream wants a login that nothing in its definition gives: Claude can do that, the gateway cannot. */
  wantsLogin(): void;
}

/**
 * One session of an upstream, behind one MCP session of an agent. It does not outlive a loss: then another one is opened,
 * and whoever opened it says `initialize` again. It connects with its first exchange, and retries that until the deadline.
 */
export interface UpstreamSession extends Disposable {
  /**
   * Hands on one message, `initialize` first. Exchanges run beside each other. Never rejects; nothing is ever sent twice
   * unless it is sure that nothing of it was processed.
   */
  exchange(message: AgentMessage, sink: AnswerSink): Promise<ExchangeOutcome>;
  /**
   * From now on, what the upstream sends without a request (of the agent, or while none is open) goes to `sink`, until
   * it is disposed. Called once at a time. `lastEventId`: where the agent's former stream ended.
   */
  listen(sink: EventSink, lastEventId: string | undefined): Disposable;
  /** Goes on with a request's own stream after the event `lastEventId`. Absent, or undefined: events have no ids here. */
  resume?(lastEventId: string, sink: AnswerSink): Promise<ExchangeOutcome> | undefined;
  /** Tells the upstream that this session is over, and disposes of it. Mere disposal leaves it for a later run. */
  end(): void;
  /** Resolves when nothing of it is left after its disposal, such as a process. Absent: nothing ever is. */
  gone?(): Promise<void>;
  /** What a later run of the gateway needs to go on with this session; undefined: it cannot. Known after `initialize`. */
  readonly resumption: string | undefined;
}

export interface UpstreamOpening {
  readonly definition: UpstreamDefinition;
  /** For the log, and for errors that the agent sees. */
  readonly server: string;
  readonly caller: Caller;
  readonly host: UpstreamHost;
  /** {@link UpstreamSession.resumption} of an earlier run: goes on with it instead of `initialize`. */
  readonly resumption: string | undefined;
}
