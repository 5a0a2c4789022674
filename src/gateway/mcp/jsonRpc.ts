import { isUtf8 } from 'node:buffer';
import * as z from 'zod/mini';

/** Id of a request: JSON-RPC allows null, MCP does not. */
export type RequestId = string | number;

export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** Result or error; other fields pass through as they came. */
export interface JsonRpcResponse {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result?: unknown;
  readonly error?: unknown;
}

export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/** What a body holds. `id` of a damaged message is told where it could be read. */
export type MessageReading =
  | { readonly kind: 'request'; readonly message: JsonRpcRequest }
  | { readonly kind: 'notification'; readonly message: JsonRpcNotification }
  | { readonly kind: 'response'; readonly message: JsonRpcResponse }
  | { readonly kind: 'damaged'; readonly code: number; readonly sentence: string };

/** Codes of JSON-RPC 2.0, and those of MCP's HTTP transport. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  badRequest: -32000,
  /** The one answer from which every measured Claude recovers by itself (measured, claude 2.1.145 - 2.1.332). */
  sessionNotFound: -32001,
  requestCancelled: -32800,
} as const;

const idSchema = z.union([z.string(), z.number()]);
const params = z.exactOptional(z.record(z.string(), z.unknown()));
// Loose: unknown fields pass through.
const requestSchema = z.looseObject({ jsonrpc: z.literal('2.0'), id: idSchema, method: z.string(), params });
const notificationSchema = z.looseObject({ jsonrpc: z.literal('2.0'), method: z.string(), params });
const responseSchema = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: idSchema,
    result: z.exactOptional(z.unknown()),
    error: z.exactOptional(z.unknown()),
  })
  .check(z.refine((message) => 'result' in message || 'error' in message));

/** Reads one message. Batches (2025-03-26 alone has them) are refused: no client that was measured sends one. */
export function readMessage(body: Buffer): MessageReading {
  if (!isUtf8(body)) {
    return { kind: 'damaged', code: rpcCodes.parseError, sentence: 'Parse error: the body is not UTF-8' };
  }
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return { kind: 'damaged', code: rpcCodes.parseError, sentence: 'Parse error: the body is not JSON' };
  }
  if (Array.isArray(value)) {
    return { kind: 'damaged', code: rpcCodes.invalidRequest, sentence: 'Invalid Request: batches are not served' };
  }
  const fields = typeof value === 'object' && value !== null ? value : {};
  if ('method' in fields && 'id' in fields) {
    const request = requestSchema.safeParse(fields);
    if (request.success) return { kind: 'request', message: request.data };
  } else if ('method' in fields) {
    const notification = notificationSchema.safeParse(fields);
    if (notification.success) return { kind: 'notification', message: notification.data };
  } else {
    const response = responseSchema.safeParse(fields);
    if (response.success) return { kind: 'response', message: response.data };
  }
  return { kind: 'damaged', code: rpcCodes.invalidRequest, sentence: 'Invalid Request: no JSON-RPC 2.0 message' };
}

export interface RpcError<Id> {
  readonly jsonrpc: '2.0';
  readonly id: Id;
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

/** An error response. `id` null: the request could not be told. */
export function rpcError<Id extends RequestId | null>(
  id: Id,
  code: number,
  message: string,
  data?: Readonly<Record<string, unknown>>,
): RpcError<Id> {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}
