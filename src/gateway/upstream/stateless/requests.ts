import * as z from 'zod/mini';
import type { RequestId } from '../../mcp/jsonRpc.ts';
import { statelessRevision } from '../../mcp/revisions.ts';
import { parsed } from '../httpEvents.ts';
import { memberSpan, memberValue, withMembers } from '../jsonMembers.ts';
import { withId } from '../pipeId.ts';
import type { AgentMessage } from '../upstreamSession.ts';
import { headerValue } from './paramHeaders.ts';

const initializeSchema = z.object({
  params: z.object({
    protocolVersion: z.string(),
    capabilities: z._default(z.record(z.string(), z.unknown()), {}),
    clientInfo: z.record(z.string(), z.unknown()),
  }),
});

/** Which parameter the header `Mcp-Name` repeats (MCP 2026-07-28, Standard Request Headers). */
const namedBy: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/** What differs between two ways of the same request. */
export interface Variation {
  /** Another id than the agent's. */
  readonly id?: string;
  /** Parameters to be added, as members of an object: `"requestState":"x"`. */
  readonly params?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the agent's client said of itself in `initialize`, and says with each request of the stateless revision. */
export class ClientSide {
  /** The least level of log messages that the client wants; undefined: it did not ask for any. */
  logLevel: string | undefined;
  /** The revision that the client wants. */
  readonly protocolVersion: string;
  private readonly meta: string;

  /** `initialize`: the client's request, as it came. Throws for what is none: the gateway has read it before. */
  constructor(initialize: Buffer) {
    const { protocolVersion, capabilities, clientInfo } = z.parse(
      initializeSchema,
      parsed(initialize.toString('utf8')),
    ).params;
    this.protocolVersion = protocolVersion;
    // Tasks of 2025-11-25 are no capability any more; those of the extension of the same name are others.
    const { tasks: _, ...known } = capabilities;
    this.meta = members({
      'io.modelcontextprotocol/protocolVersion': statelessRevision,
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': known,
    });
  }

  /** A request of the gateway's own. */
  request(id: RequestId, method: string, params: Readonly<Record<string, unknown>>): AgentMessage {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return this.translated({ body, reading: { kind: 'request', id, method }, headers: {} });
  }

  /** A request or notification of the agent as the stateless revision has it; all else of it stays as it came. */
  translated(message: AgentMessage, variation: Variation = {}): AgentMessage {
    const { reading, headers } = message;
    if (reading.kind === 'response') throw new Error('the stateless revision has no responses of clients');
    const { id, params: more, headers: additional } = variation;
    const former = message.body.toString('utf8');
    const name = nameOf(former, reading.method);
    const asked = this.withParams(id === undefined ? former : withId(former, JSON.stringify(id)), more);
    return {
      body: Buffer.from(asked),
      reading: reading.kind === 'request' && id !== undefined ? { ...reading, id } : reading,
      headers: {
        ...headers,
        'mcp-protocol-version': statelessRevision,
        'mcp-method': headerValue(reading.method),
        ...(name !== undefined && { 'mcp-name': headerValue(name) }),
        ...additional,
      },
    };
  }

  private withParams(text: string, more: string | undefined): string {
    const level = this.logLevel;
    const meta =
      level === undefined ? this.meta : `${this.meta},${members({ 'io.modelcontextprotocol/logLevel': level })}`;
    const added = `"_meta":{${meta}}`;
    const params = memberSpan(text, 'params');
    if (params === undefined) return withMembers(text, `"params":{${more === undefined ? '' : `${more},`}${added}}`);
    const { start } = params;
    const own = memberSpan(text, '_meta', start);
    const hasOwn = own !== undefined && text[own.start] === '{';
    const told = hasOwn ? withMembers(text, meta, own.start) : withMembers(text, added, start);
    return more === undefined ? told : withMembers(told, more, start);
  }
}

function nameOf(text: string, method: string): string | undefined {
  const member = namedBy.get(method);
  return member === undefined ? undefined : parameter(text, member);
}

/** The members of an object without its braces. */
export function members(object: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(object).slice(1, -1);
}

/** A parameter of a message that is a text. */
export function parameter(text: string, name: string): string | undefined {
  const params = memberSpan(text, 'params');
  const value = params === undefined ? undefined : memberValue(text, name, params.start);
  return typeof value === 'string' ? value : undefined;
}
