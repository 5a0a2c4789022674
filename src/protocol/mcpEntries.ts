import * as z from 'zod/mini';
import {
  type EntrySource,
  type EntryTransport,
  type ServerEntry,
  type ServerScope,
  wantsLogin,
} from '../core/mcp/serverEntry.ts';
import { firstIssue, inEnglish } from './issues.ts';

const optional = z.optional;
const texts = z.record(z.string(), z.string());

/** `mcpServers` of `.mcp.json`, of `.claude.json`, and Bowline's own setting. Each entry is read by itself. */
export const serverRecordSchema = z.record(z.string(), z.unknown());

const rawSchema = z.record(z.string(), z.unknown());
const kindSchema = z.object({ type: optional(z.string()), url: optional(z.unknown()) });
const stdioSchema = z.object({
  command: z.string().check(z.minLength(1)),
  args: z._default(z.array(z.string()), []),
  env: z._default(texts, {}),
});
const urlSchema = z.object({ url: z.string().check(z.minLength(1)), headers: z._default(texts, {}) });
/** What makes Claude ask for a login, or run a program for its headers. */
const helpSchema = z.object({ oauth: optional(z.unknown()), headersHelper: optional(z.unknown()) });

/** Reads the servers of one scope; what is no server is kept with its reason. */
export function readEntries(scope: ServerScope, file: string, servers: Readonly<Record<string, unknown>>): EntrySource {
  const entries: [string, ServerEntry][] = [];
  const bad: { name: string; reason: string }[] = [];
  for (const [name, value] of Object.entries(servers)) {
    const reading = readEntry(value);
    if (typeof reading === 'string')
      bad.push({ name, reason: `"${name}" does not define a server (${inShort(reading)})` });
    else entries.push([name, reading]);
  }
  return { scope, file, entries: Object.fromEntries(entries), bad };
}

function inShort(issue: string): string {
  return issue.replace(/: Invalid input: expected \w+, received undefined$/, ' is missing');
}

/** The entry, or what is wrong with it. */
function readEntry(value: unknown): ServerEntry | string {
  const raw = z.safeParse(rawSchema, value, inEnglish);
  if (!raw.success) return firstIssue(raw.error, 'entry');
  const transport = readTransport(raw.data);
  return typeof transport === 'string' ? transport : { transport, raw: raw.data };
}

function readTransport(raw: Readonly<Record<string, unknown>>): EntryTransport | string {
  const kind = z.safeParse(kindSchema, raw, inEnglish);
  if (!kind.success) return firstIssue(kind.error, 'entry');
  const { type = 'stdio' } = kind.data;
  switch (type) {
    case 'stdio': {
      const stdio = z.safeParse(stdioSchema, raw, inEnglish);
      if (!stdio.success) return firstIssue(stdio.error, 'entry');
      const { command, args, env } = stdio.data;
      return { kind: 'stdio', command, args, environment: env };
    }
    case 'http':
    case 'sse': {
      const remote = z.safeParse(urlSchema, raw, inEnglish);
      if (!remote.success) return firstIssue(remote.error, 'entry');
      const { oauth, headersHelper } = z.parse(helpSchema, raw);
      if (oauth !== undefined) return { kind: 'other', why: wantsLogin };
      if (headersHelper !== undefined) {
        return { kind: 'other', why: 'A program makes its headers (headersHelper), which Claude runs by itself.' };
      }
      return { kind: type, ...remote.data };
    }
    default:
      return { kind: 'other', why: `Bowline does not serve its transport "${type.slice(0, 40)}".` };
  }
}
