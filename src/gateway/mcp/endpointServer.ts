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
   * repeat it.
   */
  open(caller: Caller, client: ServerClient): ServerConnection;
}

/** What a server's side of a session tells. */
export interface ServerClient {
  /** Gets responses, and whatever the server sends by itself. */
  readonly receive: (message: JsonRpcMessage) => void;
  /** The server itself fails, in these words; undefined: it works. To be told as often as it is found out. */
  readonly failing: (reason: string | undefined) => void;
}

export interface ServerConnection extends Disposable {
  send(message: JsonRpcMessage): void;
}
