import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';

/** One request for a message. Headers, and with them keys, are not kept. */
export interface ModelRequest {
  readonly model: string;
  /** `turn` of the conversation, or a request on the side without tools, such as the one for a title. */
  readonly kind: 'turn' | 'side';
  /** All text of the last user message, with the reminders that `claude` adds to it. */
  readonly text: string;
  /** All text of the user messages before that one. */
  readonly earlier: string;
  /** All text of the messages of role `system`, in which newer versions hand on what hooks told. */
  readonly notes: string;
  /** What the last user message hands back from tools, as JSON. */
  readonly toolResults: readonly string[];
  /** Names of the tools on offer. 2.1.332 defers those of MCP servers: they are absent and callable all the same. */
  readonly tools: readonly string[];
}

/** A stand-in for the Messages API on loopback. */
export interface ScriptedModel {
  readonly port: number;
  /** For `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  /** What was asked so far, in order. */
  readonly requests: readonly ModelRequest[];
  /** From now on a turn whose prompt fits is answered as if it were `command`; undefined: as it stands again. */
  obey(prompt: RegExp, command: string | undefined): void;
  /** Closes the port and every connection. May be called more than once. */
  dispose(): Promise<void>;
}

const partSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool_result'), content: z.optional(z.unknown()), is_error: z.optional(z.boolean()) }),
  z.object({ type: z.string().check(z.refine((type) => type !== 'text' && type !== 'tool_result')) }),
]);

const messagesSchema = z.object({
  model: z.string(),
  stream: z._default(z.boolean(), false),
  messages: z.array(z.object({ role: z.string(), content: z.union([z.string(), z.array(partSchema)]) })),
  tools: z._default(z.array(z.object({ name: z.string() })), []),
});

type Part = z.infer<typeof partSchema>;
type Messages = z.infer<typeof messagesSchema>;

/** The content block of an answer. */
type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

/**
 * Starts a scripted model on 127.0.0.1 (`port` 0, the default, takes a free one), so that the real `claude` runs offline.
 * What the last prompt asks for at the start of a line is done in a turn with tools:
 * - `CALL <tool> {json}` calls that tool; its result comes back as `RESULT<<...>>`, with `ERR` at the end for an error
 * - `FAIL400 <text>` answers 400 `invalid_request_error` with that text
 * - `RECALL` comes back as `RECALLED ...`, with what earlier prompts of the conversation said after `REMEMBER `
 * - `SLOW <ms>` waits first; one of the above may follow on the same line
 * - anything else comes back as `ECHO<<...>>`, its last 60 characters
 */
export async function startScriptedModel(options: { readonly port?: number } = {}): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const stopped = new AbortController();
  const obeyed: Context['obeyed'] = new Map();
  const server = createServer((request, response) => {
    void answer(request, response, { requests, obeyed, signal: stopped.signal }).catch((error: unknown) => {
      if (stopped.signal.aborted || response.headersSent) response.destroy();
      else fail(response, 400, 'invalid_request_error', String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    obey: (prompt, command) => {
      if (command === undefined) obeyed.delete(prompt.source);
      else obeyed.set(prompt.source, { prompt, command });
    },
    dispose: async () => {
      stopped.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Context {
  readonly requests: ModelRequest[];
  readonly obeyed: Map<string, { readonly prompt: RegExp; readonly command: string }>;
  readonly signal: AbortSignal;
}

async function answer(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const body = await readText(request);
  if (pathname === '/v1/messages/count_tokens') {
    sendJson(response, 200, { input_tokens: 10 });
    return;
  }
  if (pathname !== '/v1/messages') {
    fail(response, 404, 'not_found_error', 'not found');
    return;
  }
  const input = messagesSchema.parse(JSON.parse(body));
  const heard = readRequest(input);
  context.requests.push(heard);
  const order = [...context.obeyed.values()].find(({ prompt }) => heard.kind === 'turn' && prompt.test(heard.text));
  const asked = order === undefined ? heard : { ...heard, text: order.command };
  const slow = asked.kind === 'turn' ? /^SLOW (\d+)/m.exec(asked.text) : null;
  if (slow) await delay(Number(slow[1]), undefined, { signal: context.signal });
  const failure =
    asked.kind === 'turn' && asked.toolResults.length === 0 ? /^(?:SLOW \d+ )?FAIL400 (.*)/m.exec(asked.text) : null;
  if (failure) fail(response, 400, 'invalid_request_error', failure[1] ?? '');
  else sendBlock(response, input, chooseBlock(asked));
}

function readRequest(input: Messages): ModelRequest {
  // The last *user* message: newer versions of claude append system messages after it.
  const said = input.messages.filter(({ role }) => role === 'user').map((message) => partsOf(message.content));
  const parts = said.at(-1) ?? [];
  const notes = input.messages.filter(({ role }) => role === 'system').flatMap((message) => partsOf(message.content));
  return {
    model: input.model,
    kind: input.tools.length > 0 ? 'turn' : 'side',
    text: textOf(parts),
    earlier: textOf(said.slice(0, -1).flat()),
    notes: textOf(notes),
    toolResults: parts.flatMap((part) => ('content' in part ? [describeResult(part)] : [])),
    tools: input.tools.map((tool) => tool.name),
  };
}

function partsOf(content: string | readonly Part[]): readonly Part[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');
}

function describeResult(result: { content?: unknown; is_error?: boolean | undefined }): string {
  return `${JSON.stringify(result.content).slice(0, 300)}${result.is_error ? ' ERR' : ''}`;
}

function chooseBlock(asked: ModelRequest): Block {
  const [result] = asked.toolResults;
  if (result !== undefined) return { type: 'text', text: `RESULT<<${result}>>` };
  if (asked.kind === 'turn' && /^RECALL\b/m.test(asked.text)) {
    const words = [...asked.earlier.matchAll(/^REMEMBER (.*)$/gm)].map((found) => found[1] ?? '');
    return { type: 'text', text: `RECALLED ${words.join(', ')}.` };
  }
  const call = asked.kind === 'turn' ? /^(?:SLOW \d+ )?CALL (\S+)(?: (\{.*\}))?/m.exec(asked.text) : null;
  if (call?.[1] === undefined) return { type: 'text', text: `ECHO<<${asked.text.slice(-60)}>>` };
  const input: unknown = JSON.parse(call[2] ?? '{}');
  return { type: 'tool_use', id: `toolu_${randomUUID()}`, name: call[1], input };
}

function sendBlock(response: ServerResponse, { model, stream }: Messages, block: Block): void {
  const stopReason = block.type === 'tool_use' ? 'tool_use' : 'end_turn';
  const message = {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 1 },
  };
  if (!stream) {
    sendJson(response, 200, { ...message, content: [block], stop_reason: stopReason });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  send('message_start', { message });
  send('content_block_start', {
    index: 0,
    content_block: block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} },
  });
  send('content_block_delta', {
    index: 0,
    delta:
      block.type === 'text'
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
  });
  send('content_block_stop', { index: 0 });
  send('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 5 } });
  send('message_stop', {});
  response.end();
}

function fail(response: ServerResponse, status: number, type: string, message: string): void {
  sendJson(response, status, { type: 'error', error: { type, message } });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
