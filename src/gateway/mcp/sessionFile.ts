import * as z from 'zod/mini';

/** One MCP session as it outlives the gateway. Its id opens the session: the file has mode 0600, logs get the digest. */
export interface SessionRecord {
  readonly id: string;
  readonly agent: string;
  readonly launchId: string;
  readonly server: string;
  readonly protocolVersion: string;
  readonly client: { readonly name: string; readonly version: string };
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Where an upstream stands behind the endpoint. */
  readonly upstream?: UpstreamRecord;
}

/** What is needed to open the upstream's side of a session anew, or to go on with it. */
export interface UpstreamRecord {
  /** The client's `initialize`, as it came. */
  readonly initialize: string;
  /** Of the definition by which the upstream was opened; empty: it never was. */
  readonly digest: string;
  /** See `UpstreamSession.resumption`. A secret, as the session's id is. */
  readonly resumption?: string;
  /** Addresses of the resources that the client has subscribed to. */
  readonly subscriptions: readonly string[];
  readonly logLevel?: string;
  /** Names of tools that are shortened for the agent, with those that the upstream knows. */
  readonly toolNames?: Readonly<Record<string, string>>;
}

/** A session that is over and must not be taken up again. */
export interface Tombstone {
  readonly digest: string;
  readonly endedAt: number;
  readonly reason: EndedBecause;
}

export type EndedBecause = 'deleted by the client' | 'stream gone for good' | 'launch over' | 'too many';

const sessionSchema = z.object({
  id: z.string().check(z.minLength(16), z.maxLength(200)),
  agent: z.string(),
  launchId: z.string(),
  server: z.string(),
  protocolVersion: z.string(),
  client: z.object({ name: z.string(), version: z.string() }),
  createdAt: z.number(),
  upstream: z.exactOptional(
    z.object({
      initialize: z.string(),
      digest: z.string(),
      resumption: z.exactOptional(z.string()),
      subscriptions: z.array(z.string()),
      logLevel: z.exactOptional(z.string()),
      toolNames: z.exactOptional(z.record(z.string(), z.string())),
    }),
  ),
});

const tombstoneSchema = z.object({
  digest: z.string(),
  endedAt: z.number(),
  reason: z.enum(['deleted by the client', 'stream gone for good', 'launch over', 'too many']),
});

/** `mcp-sessions.json`. The items are judged one by one: a damaged one is dropped alone. */
export const sessionFileSchema = z.object({
  format: z.literal(1),
  sessions: z.array(z.unknown()),
  ended: z.array(z.unknown()),
});

/** The sound items of the file, and how many were dropped. */
export function readSessionItems(file: z.infer<typeof sessionFileSchema>): {
  readonly sessions: readonly SessionRecord[];
  readonly ended: readonly Tombstone[];
  readonly dropped: number;
} {
  const sessions = file.sessions.flatMap((item) => sessionSchema.safeParse(item).data ?? []);
  const ended = file.ended.flatMap((item) => tombstoneSchema.safeParse(item).data ?? []);
  return { sessions, ended, dropped: file.sessions.length + file.ended.length - sessions.length - ended.length };
}
