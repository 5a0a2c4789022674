import * as z from 'zod/mini';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { allIssues, inEnglish } from '../../protocol/issues.ts';
import type { Caller, EndpointServer, ServerClient } from './endpointServer.ts';
import { type JsonRpcRequest, type JsonRpcResponse, rpcCodes, rpcError } from './jsonRpc.ts';

/** What a tool answers; with `isError` it is a failure, and the text tells the model what to do. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly isError?: true;
}

/** How `tools/list` tells a tool (`Tool` of MCP 2025-11-25). */
export interface ToolWords {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: Readonly<Record<string, string | boolean>>;
}

export interface Tool {
  readonly words: ToolWords;
  /** JSON Schema of the arguments. */
  readonly inputSchema: () => object;
  /** `input` is as the client sent it. */
  run(caller: Caller, input: unknown): ToolResult | Promise<ToolResult>;
}

/** A tool that takes nothing; what is sent all the same does no harm. */
export function plainTool(words: ToolWords, run: (caller: Caller) => ToolResult | Promise<ToolResult>): Tool {
  return { words, inputSchema: () => ({ type: 'object', properties: {} }), run };
}

/** A tool whose arguments one schema describes and checks; what does not fit is told field by field. */
export function tool<Input extends z.ZodMiniObject>(
  words: ToolWords,
  input: Input,
  run: (caller: Caller, input: z.infer<Input>) => ToolResult | Promise<ToolResult>,
): Tool {
  return {
    words,
    inputSchema: () => z.toJSONSchema(input, { io: 'input' }),
    run: (caller, sent) => {
      const read = input.safeParse(sent, inEnglish);
      if (read.success) return run(caller, read.data);
      const issues = allIssues(read.error, 'arguments');
      return failure(`Input validation error: Invalid arguments for tool ${words.name}: ${issues}`);
    },
  };
}

/** `schema` with the words that tell a model what is meant. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema {
  z.globalRegistry.add(schema, { description });
  return schema;
}

export function success(text: string): ToolResult {
  return { content: [{ type: 'text', text }] };
}

export function failure(text: string): ToolResult {
  return { ...success(text), isError: true };
}

const callSchema = z.object({ name: z.string(), arguments: z._default(z.record(z.string(), z.unknown()), {}) });

/**
 * An MCP server that has tools and nothing else. It keeps nothing per session and answers without a handshake, so one
 * that goes on after a restart of the gateway needs no replay. Written here, because the SDK's costs 300 kB of
 * program and one instance per session. Its tools are made on first use: they are not to hold up a gateway that starts.
 */
export function toolServer(
  name: string,
  introduction: Omit<EndpointServer['introduction'], 'capabilities'>,
  makeTools: () => readonly Tool[],
  log: Log,
): EndpointServer {
  let made: ReadonlyMap<string, Tool> | undefined;
  let list: readonly object[] | undefined;

  const tools = (): ReadonlyMap<string, Tool> => (made ??= new Map(makeTools().map((one) => [one.words.name, one])));

  async function run(called: Tool, caller: Caller, input: unknown, client: ServerClient): Promise<ToolResult> {
    try {
      const result = await called.run(caller, input);
      client.failing(undefined);
      return result;
    } catch (error) {
      client.failing(`its tool ${called.words.name} failed: ${messageOf(error)}`);
      log.error('a tool failed', { server: name, tool: called.words.name, reason: messageOf(error) });
      return failure(`The tool failed inside Bowline: ${messageOf(error)}. Tell the person.`);
    }
  }

  async function answer(
    caller: Caller,
    client: ServerClient,
    { id, method, params }: JsonRpcRequest,
  ): Promise<JsonRpcResponse> {
    switch (method) {
      case 'ping':
        return { jsonrpc: '2.0', id, result: {} };
      case 'tools/list':
        list ??= [...tools().values()].map(({ words, inputSchema }) => ({ ...words, inputSchema: inputSchema() }));
        return { jsonrpc: '2.0', id, result: { tools: list } };
      case 'tools/call': {
        const call = callSchema.safeParse(params, inEnglish);
        if (!call.success) {
          return rpcError(id, rpcCodes.invalidParams, `Invalid tools/call request: ${z.prettifyError(call.error)}`);
        }
        const called = tools().get(call.data.name);
        if (called === undefined) return rpcError(id, rpcCodes.invalidParams, `Tool ${call.data.name} not found`);
        return { jsonrpc: '2.0', id, result: await run(called, caller, call.data.arguments, client) };
      }
      default:
        return rpcError(id, rpcCodes.methodNotFound, 'Method not found');
    }
  }

  return {
    name,
    introduction: { ...introduction, capabilities: { tools: {} } },
    open: (caller, client) => ({
      send: (message) => {
        if (!('method' in message && 'id' in message)) return; // no notification or response asks for anything
        void answer(caller, client, message).then(client.receive);
      },
      dispose: () => undefined,
    }),
  };
}
