import type { Disposable } from '../../base/lifecycle.ts';
import type { JsonRpcMessage } from './jsonRpc.ts';

/** Who is served, known for the whole life of an MCP session. */
export interface Caller {
  readonly agent: string;
  readonly launchId: string;
}

/** An MCP server behind an endpoint. The session layer keeps session, stream and handshake; it hands the rest over. */
export interface EndpointServer {
  readonly name: string;
  /** Answers `initialize` without asking anybody, so that it is never delayed. */
  readonly introduction: {
    readonly serverInfo: { readonly name: string; readonly title?: string; readonly version: string };
    readonly capabilities: Readonly<Record<string, unknown>>;
    readonly instructions: string;
  };
  /**
   * Opens the server's side of one MCP session. Needs no handshake: after a restart of the gateway the client does not
   * repeat it. `receive` gets responses, and whatever the server sends by itself.
   */
  open(caller: Caller, receive: (message: JsonRpcMessage) => void): ServerConnection;
}

export interface ServerConnection extends Disposable {
  send(message: JsonRpcMessage): void;
}
