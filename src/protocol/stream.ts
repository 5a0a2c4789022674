import * as z from 'zod/mini';
import { commandSchema } from './commands.ts';
import { fleetEventSchema, handsFactSchema } from './fleetEvent.ts';
import { fleetStateSchema } from './fleetState.ts';
import { promptIdSchema, timeSchema } from './schema.ts';

const optional = z.exactOptional;

/** Version of the stream between gateway and windows. Both sides say theirs; another one is refused with a sentence. */
export const streamProtocol = 1;

/** Path of the WebSocket endpoint; the bearer token of the endpoint file goes in the Authorization header. */
export const streamPath = '/stream';

/** A hands effect with everything that is needed to run it. It names files that hold secrets, never the secrets. */
export const handsTaskSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('launch'),
    id: z.string(),
    name: z.string(),
    launchId: z.string(),
    directory: z.string(),
    /** The program as configured: a path, or a name to be looked up. */
    program: z.string(),
    arguments: z.array(z.string()),
    /** Over the allow-listed environment of the hands. */
    environment: z.record(z.string(), z.string()),
    /** Whatever the screen shows, the former process is ended. */
    guard: optional(z.literal('bypassed')),
  }),
  z.object({ kind: z.literal('look'), id: z.string(), name: z.string(), launchId: z.string(), askedAt: timeSchema }),
  z.object({
    kind: z.literal('interrupt'),
    id: z.string(),
    name: z.string(),
    launchId: z.string(),
    interruptId: z.string(),
  }),
  z.object({
    kind: z.literal('end'),
    id: z.string(),
    name: z.string(),
    launchId: z.string(),
    unless: optional(z.literal('in use')),
  }),
  z.object({
    kind: z.literal('type'),
    id: z.string(),
    name: z.string(),
    launchId: z.string(),
    server: z.string(),
    attemptId: z.string(),
    text: z.string(),
  }),
  z.object({
    kind: z.literal('prompt'),
    id: z.string(),
    name: z.string(),
    launchId: z.string(),
    promptId: promptIdSchema,
    text: z.string(),
  }),
]);

export type HandsTask = z.infer<typeof handsTaskSchema>;

/** What a window sends. */
export const windowMessageSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('hello'),
    protocol: z.int(),
    /** Chosen by the window at its start; names it in the audit and in the lease of the hands. */
    window: z.string().check(z.minLength(1), z.maxLength(100)),
    hands: z.enum(['offered', 'not offered']),
  }),
  z.object({ kind: z.literal('request'), id: z.int(), command: commandSchema }),
  z.object({ kind: z.literal('hands report'), facts: z.array(handsFactSchema) }),
  /** A number was missed: asks for a snapshot. */
  z.object({ kind: z.literal('resync') }),
]);

export type WindowMessage = z.infer<typeof windowMessageSchema>;

/** What the gateway sends. Event numbers grow by one; the first event after a snapshot has its number plus one. */
export const gatewayMessageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('welcome'), protocol: z.int(), epoch: z.string(), version: z.string() }),
  z.object({ kind: z.literal('snapshot'), sequence: z.int(), state: fleetStateSchema }),
  /** What happened at once, in order; `sequence` is the number of the first. */
  z.object({ kind: z.literal('events'), sequence: z.int(), events: z.array(fleetEventSchema).check(z.minLength(1)) }),
  /** The whole set of tasks that this window shall have in progress; others are to be called off. Only to the hands. */
  z.object({ kind: z.literal('tasks'), tasks: z.array(handsTaskSchema) }),
  z.object({
    kind: z.literal('reply'),
    id: z.int(),
    error: optional(z.object({ code: z.string(), sentence: z.string() })),
  }),
]);

export type GatewayMessage = z.infer<typeof gatewayMessageSchema>;
