import type { Disposable } from '../../base/lifecycle.ts';
import type { ExchangeOutcome } from './upstreamSession.ts';

/** Why a message did not get its way, or a pipe was not opened; kinds and `reason` as {@link ExchangeOutcome} has them. */
export type PipeFailure = Exclude<ExchangeOutcome, { readonly kind: 'answered' }>;

/**
 * A way to an MCP server that takes and gives one JSON-RPC message at a time and pairs nothing: the stdio transport, and
 * HTTP with SSE of revision 2024-11-05. When it closes, the server's session is over.
 */
export interface MessagePipe extends Disposable {
  /** Takes one message: JSON without a line break. They go out in the order of the calls. Never rejects. */
  send(message: string): Promise<{ readonly kind: 'sent' } | PipeFailure>;
  /** Characters that were taken and did not go out yet: the server reads slower than it is written to. */
  readonly backlog: number;
  /** Reads nothing more until {@link resume}; what is read already is still told. */
  pause(): void;
  resume(): void;
  /** See `UpstreamSession.gone`. */
  gone?(): Promise<void>;
}

/** Whom a pipe tells; nothing after its disposal. */
export interface PipeListener {
  /** One message as it came: a text that may not be JSON. */
  message(text: string): void;
  /** Once, as the last. For a person, without a full stop: `its process ended with code 1`. */
  closed(reason: string): void;
}

export type PipeOpening =
  | { readonly kind: 'open'; readonly pipe: MessagePipe }
  | Extract<PipeFailure, { readonly kind: 'refused' | 'unreachable' }>;

/** Messages of more bytes than this are reported and dropped. */
export const longestMessage: number = 16 * 1024 * 1024;
