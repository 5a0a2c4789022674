import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { eventOf, parsed, readEvent } from './httpEvents.ts';
import { memberSpan, memberValue, replaced } from './jsonMembers.ts';
import type { AnswerSink } from './upstreamSession.ts';

/** Characters of a tool's full name, `mcp__SERVER__TOOL`: with one more, each turn of the agent fails with 400. */
const longestFullName = 64;

/** A digest that keeps apart what is cut off, with the `_` before it; and what is to be left of a name besides. */
const digestLength = 9;
const worthReading = 4;

/** Names that tools have for the agent, and those that their server gave them. */
export type ToolNames = Readonly<Record<string, string>>;

/** The name under which an agent gets to know a tool of `server`: the same each time. */
export function shortToolName(server: string, tool: string): string {
  const room = longestFullName - `mcp__${server}__`.length;
  if (tool.length <= room || room < digestLength + worthReading) return tool;
  const digest = createHash('sha256')
    .update(tool)
    .digest('hex')
    .slice(0, digestLength - 1);
  return `${tool.slice(0, room - digestLength)}_${digest}`;
}

const listSchema = z.looseObject({
  result: z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) }),
});

/** The answer to `tools/list` with names that the agent can use; undefined: they are all short enough, or it is none. */
export function shortened(
  server: string,
  answer: string,
): { readonly answer: string; readonly names: ToolNames } | undefined {
  const list = listSchema.safeParse(parsed(answer)).data;
  if (list === undefined) return undefined;
  const names: Record<string, string> = {};
  const tools = list.result.tools.map((tool) => {
    const name = shortToolName(server, tool.name);
    if (name === tool.name) return tool;
    names[name] = tool.name;
    return { ...tool, name };
  });
  if (Object.keys(names).length === 0) return undefined;
  try {
    return { answer: JSON.stringify({ ...list, result: { ...list.result, tools } }), names };
  } catch {
    return undefined; // nested too deeply to be spelled anew
  }
}

/** A `tools/call` with the name that the server knows; as it came where it names no other one. */
export function withServersName(call: Buffer, names: ToolNames): Buffer {
  const text = call.toString('utf8');
  const params = memberSpan(text, 'params');
  const span = params && memberSpan(text, 'name', params.start);
  const name = params && memberValue(text, 'name', params.start);
  if (span === undefined || typeof name !== 'string' || !Object.hasOwn(names, name)) return call;
  return Buffer.from(replaced(text, span, JSON.stringify(names[name])));
}

/** Hands an answer to `tools/list` on with {@link shortened} names, and tells which they are. */
export function shorteningSink(server: string, sink: AnswerSink, tell: (names: ToolNames) => void): AnswerSink {
  const short = (answer: string): string | undefined => {
    const found = shortened(server, answer);
    if (found !== undefined) tell(found.names);
    return found?.answer;
  };
  return {
    json: (message) => {
      sink.json(short(message.toString()) ?? message);
    },
    events: (part) => {
      const { id, data } = readEvent(Buffer.from(part));
      const answer = data === '' ? undefined : short(data);
      if (answer === undefined) return sink.events(part);
      return sink.events(`${id === undefined ? '' : `id: ${id}\n`}${eventOf(answer)}`);
    },
    drained: () => sink.drained(),
    onGone: (listener) => {
      sink.onGone(listener);
    },
  };
}
