import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type McpServer,
  type Transport,
} from '@modelcontextprotocol/server';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { ServerConnection } from './endpointServer.ts';
import { type JsonRpcMessage, type JsonRpcRequest, rpcCodes, rpcError } from './jsonRpc.ts';

/**
 * Connects a server of the MCP SDK without a wire: messages go in and out as objects, without a copy. The SDK's server
 * answers tools/list and tools/call without a handshake, so a session of an earlier run needs no replay of it.
 */
export function connectInMemory(
  server: McpServer,
  receive: (message: JsonRpcMessage) => void,
  log: Log,
): ServerConnection {
  const transport: Transport = {
    start: () => Promise.resolve(),
    send: (message: JSONRPCMessage) => {
      const { id } = 'id' in message ? message : { id: undefined };
      if ('method' in message) receive(message);
      else if (id !== undefined) receive({ ...message, id });
      return Promise.resolve();
    },
    close: () => {
      transport.onclose?.();
      return Promise.resolve();
    },
  };
  const report = (error: unknown): void => {
    log.warn('built-in MCP server', { reason: messageOf(error) });
  };
  server.server.onerror = report;
  server.connect(transport).catch(report);
  return {
    send: (message) => {
      if (isJSONRPCRequest(message) || isJSONRPCNotification(message) || isJSONRPCResponse(message)) {
        transport.onmessage?.(message);
      } else if (isRequest(message)) {
        receive(rpcError(message.id, rpcCodes.invalidParams, 'Invalid params'));
      }
    },
    dispose: () => {
      server.close().catch(report);
    },
  };
}

function isRequest(message: JsonRpcMessage): message is JsonRpcRequest {
  return 'method' in message && 'id' in message;
}
