import * as z from 'zod/mini';

const lineSchema = z.object({ event: z.object({ kind: z.string() }) });
const gatewayMessageSchema = z.object({
  kind: z.string(),
  tasks: z.optional(z.array(z.object({ kind: z.string() }))),
});
const windowMessageSchema = z.object({
  kind: z.string(),
  facts: z.optional(z.array(z.object({ kind: z.string() }))),
  command: z.optional(z.object({ kind: z.string() })),
});

/** What is written to a file, cut into its lines where each of them is an event, and named. */
export function labelsOfText(
  name: string,
  content: Buffer,
): readonly { readonly label: string; readonly bytes: Buffer }[] {
  if (name !== 'journal.jsonl') return [{ label: name, bytes: content }];
  const lines = content.toString('utf8').split(/(?<=\n)/);
  return lines.map((line) => ({ label: `journal line: ${kindOfLine(line)}`, bytes: Buffer.from(line) }));
}

/** A line is a checksum and the event, or the header. */
function kindOfLine(line: string): string {
  const start = line.indexOf('{');
  const parsed = lineSchema.safeParse(parseJson(start === -1 ? '' : line.slice(start)));
  return parsed.success ? parsed.data.event.kind : 'header';
}

/**
 * The steps in one write to a socket. `header`: that of a WebSocket frame whose payload is the next write. Messages that
 * only show the fleet to a window are no step: nobody acts on them but through `tasks`.
 */
export function readWrite(
  header: Buffer | undefined,
  data: Buffer,
): { readonly labels: readonly string[]; readonly header?: Buffer } {
  if (header !== undefined) return { labels: frameLabels(header, data) };
  if (data[0] === 0x81 || data[0] === 0x82) {
    const length = headerLength(data);
    return data.length > length
      ? { labels: frameLabels(data.subarray(0, length), data.subarray(length)) }
      : { labels: [], header: data };
  }
  return { labels: tmuxLabels(data.toString('utf8')) };
}

/** Lines for tmux, each of one or more commands that it runs in one go. */
function tmuxLabels(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const commands = [...line.matchAll(/(?:^| ; )"([a-z]+-[a-z-]+)"/g)].map(([, command]) => command);
    return commands.length === 0 ? [] : [`tmux ${[...new Set(commands)].join(', ')}`];
  });
}

function headerLength(data: Buffer): number {
  const second = data[1] ?? 0;
  const long = { 126: 2, 127: 8 }[second & 0x7f] ?? 0;
  return 2 + long + (second & 0x80 ? 4 : 0);
}

function frameLabels(header: Buffer, payload: Buffer): readonly string[] {
  if (((header[1] ?? 0) & 0x80) === 0) {
    const message = gatewayMessageSchema.safeParse(parseJson(payload.toString('utf8')));
    if (!message.success) return [];
    if (message.data.kind === 'reply') return ['send reply'];
    if (message.data.kind !== 'tasks') return [];
    return [`send tasks: ${(message.data.tasks ?? []).map(({ kind }) => kind).join(', ')}`];
  }
  const mask = header.subarray(header.length - 4);
  const text = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))).toString('utf8');
  const message = windowMessageSchema.safeParse(parseJson(text));
  if (!message.success) return [];
  const { kind, facts, command } = message.data;
  if (facts !== undefined) return [`report ${facts.map((fact) => fact.kind).join(', ')}`];
  return command === undefined ? [`send ${kind}`] : [`ask ${command.kind}`];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
