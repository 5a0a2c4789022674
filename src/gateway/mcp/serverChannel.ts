import type { Disposable } from '../../base/lifecycle.ts';
import type { Caller, EndpointServer, ServerClient, ServerConnection } from './endpointServer.ts';
import {
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
  rpcCodes,
  rpcError,
} from './jsonRpc.ts';

/**
 * One MCP session's way to its server: pairs requests with responses. Ids are replaced on the way, so that a client which
 * uses one id twice still gets each answer once.
 */
export class ServerChannel implements Disposable {
  private readonly connection: ServerConnection;
  private readonly pending = new Map<
    number,
    { readonly id: RequestId; readonly settle: (answer: JsonRpcResponse) => void }
  >();
  private lastId = 0;
  private disposed = false;

  /**
   * `push` gets what the server sends by itself: requests and notifications for the standing stream. `failing`: see
   * {@link ServerClient}.
   */
  constructor(
    server: EndpointServer,
    caller: Caller,
    private readonly push: (message: JsonRpcMessage) => void,
    failing: ServerClient['failing'],
  ) {
    this.connection = server.open(caller, {
      receive: (message) => {
        this.receive(message);
      },
      failing,
    });
  }

  /** Resolves with the response; with an error response when it is cancelled or the session ends meanwhile. */
  request(message: JsonRpcRequest): Promise<JsonRpcResponse> {
    if (this.disposed) return Promise.resolve(rpcError(message.id, rpcCodes.internalError, 'The session has ended'));
    return new Promise((resolve) => {
      const id = ++this.lastId;
      this.pending.set(id, { id: message.id, settle: resolve });
      this.connection.send({ ...message, id });
    });
  }

  /** Hands on a notification, or a response to a request of the server. */
  notify(message: JsonRpcNotification | JsonRpcResponse): void {
    if (this.disposed) return;
    if (!('method' in message) || message.method !== 'notifications/cancelled') {
      this.connection.send(message);
      return;
    }
    const { params } = message;
    const cancelled = params?.['requestId'];
    for (const [id, request] of this.pending) {
      if (request.id !== cancelled) continue;
      this.connection.send({ ...message, params: { ...params, requestId: id } });
      // A cancelled request gets no response from the server; its POST still needs an end.
      this.settle(id, rpcError(request.id, rpcCodes.requestCancelled, 'Request cancelled'));
    }
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    for (const [id, request] of this.pending) {
      this.settle(id, rpcError(request.id, rpcCodes.internalError, 'The session has ended'));
    }
    this.connection.dispose();
  }

  private receive(message: JsonRpcMessage): void {
    if ('method' in message) {
      this.push(message);
      return;
    }
    const request = typeof message.id === 'number' ? this.pending.get(message.id) : undefined;
    if (request !== undefined) this.settle(Number(message.id), { ...message, id: request.id });
  }

  private settle(id: number, answer: JsonRpcResponse): void {
    const request = this.pending.get(id);
    this.pending.delete(id);
    request?.settle(answer);
  }
}
