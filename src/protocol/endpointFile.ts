import * as z from 'zod/mini';

/** Version of {@link Endpoint}. A reader that meets another one says so instead of guessing. */
export const endpointProtocol = 1;

const processSchema = z.object({
  pid: z.int().check(z.positive()),
  /** Opaque; see `ProcessIdentity` in node/processIdentity.ts. */
  startTime: z.string().check(z.minLength(1)),
});
const portSchema = z.int().check(z.minimum(1), z.maximum(65535));

/** `endpoint.json`: where the gateway answers. Written by the gateway after it listens, mode 0600: it holds the token. */
export const endpointSchema = z.object({
  protocol: z.literal(endpointProtocol),
  /** On 127.0.0.1. */
  port: portSchema,
  /** Bearer token of the admin API and the stream: 32 random bytes or more in base64url. */
  token: z.string().check(z.regex(/^[A-Za-z0-9_-]{43,}$/)),
  /** `instance` is the epoch: one run of the gateway. */
  gateway: z.extend(processSchema, { instance: z.string().check(z.minLength(1)) }),
  holder: z.object({ instance: z.string().check(z.minLength(1)) }),
  /** Milliseconds since 1970. */
  startedAt: z.number().check(z.nonnegative()),
  /** Version of the extension that the gateway's program came with. */
  version: z.string().check(z.minLength(1)),
});
export type Endpoint = z.infer<typeof endpointSchema>;

/** `holder.json`: the process that owns the port. Written by the holder after it listens, and at each start of a child. */
export const holderFileSchema = z.extend(processSchema, {
  instance: z.string().check(z.minLength(1)),
  port: portSchema,
  /** Milliseconds since 1970. */
  startedAt: z.number().check(z.nonnegative()),
  /** The gateway that runs on the socket, so that the next holder can end one that hangs. */
  child: z.optional(processSchema),
});
export type HolderFile = z.infer<typeof holderFileSchema>;
