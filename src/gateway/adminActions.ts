import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { BowlineError } from '../base/errors.ts';
import { approvalShape, type Command } from '../protocol/commands.ts';
import { configurationChangeSchema } from '../protocol/fleetState.ts';
import { firstIssue, inEnglish } from '../protocol/issues.ts';
import { promptIdSchema } from '../protocol/schema.ts';

const restartSchema = z.object({
  mode: z._default(z.enum(['resume', 'fresh']), 'resume'),
  bypassGuard: z._default(z.boolean(), false),
  reason: z.exactOptional(z.string().check(z.maxLength(1_000))),
});
export const planSchema = z.object({ mode: z._default(z.enum(['resume', 'fresh']), 'resume') });
export const takeoverSchema = z.object({ version: z.string().check(z.maxLength(200)) });
const promptSchema = z.object({ text: z.string(), id: z.exactOptional(promptIdSchema) });
const interruptSchema = z.object({ id: z.exactOptional(promptIdSchema) });
const promptNameSchema = z.object({ id: promptIdSchema });
const saveSchema = z.object({
  mode: z._default(z.enum(['resume', 'fresh']), 'fresh'),
  id: z.exactOptional(promptIdSchema),
});
const resumeOtherSchema = z.object({ sessionId: z.string().check(z.maxLength(200)) });
const approveSchema = z.object(approvalShape);
const withdrawSchema = z.pick(approveSchema, { server: true });
const reconnectSchema = z.object({ server: z.string().check(z.maxLength(100)) });

/** The command that `POST /agents/<name>/<action>` asks for. */
export type Action = (name: string, body: () => Promise<object>) => Command | Promise<Command>;

export const agentActions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['start', (name) => ({ kind: 'start', name })],
  ['stop', (name) => ({ kind: 'stop', name })],
  [
    'interrupt',
    async (name, body) => ({ kind: 'interrupt', name, id: randomUUID(), ...readAs(interruptSchema, await body()) }),
  ],
  ['fork', (name) => ({ kind: 'fork', name })],
  ['approve-server', async (name, body) => ({ kind: 'approve server', name, ...readAs(approveSchema, await body()) })],
  [
    'withdraw-server',
    async (name, body) => ({ kind: 'withdraw server approval', name, ...readAs(withdrawSchema, await body()) }),
  ],
  ['resume-other', async (name, body) => ({ kind: 'resume other', name, ...readAs(resumeOtherSchema, await body()) })],
  ['keep-trying', (name) => ({ kind: 'keep trying', name })],
  ['verify', (name) => ({ kind: 'verify', name })],
  [
    'configure',
    async (name, body) => ({ kind: 'configure agent', name, change: readAs(configurationChangeSchema, await body()) }),
  ],
  ['heal', (name) => ({ kind: 'heal', names: [name] })],
  ['reconnect', async (name, body) => ({ kind: 'reconnect', name, ...readAs(reconnectSchema, await body()) })],
  [
    'reconnect-upstream',
    async (name, body) => ({ kind: 'reconnect upstream', name, ...readAs(reconnectSchema, await body()) }),
  ],
  [
    'restart',
    async (name, body) => {
      const { bypassGuard, ...rest } = readAs(restartSchema, await body());
      return { kind: 'restart', name, guard: bypassGuard ? 'bypass' : 'enforce', ...rest };
    },
  ],
  ['prompt', async (name, body) => ({ kind: 'prompt', name, id: randomUUID(), ...readAs(promptSchema, await body()) })],
  ['cancel-prompt', async (name, body) => ({ kind: 'cancel prompt', name, ...readAs(promptNameSchema, await body()) })],
  [
    'save-and-restart',
    async (name, body) => ({ kind: 'save and restart', name, id: randomUUID(), ...readAs(saveSchema, await body()) }),
  ],
  [
    'cancel-save-and-restart',
    async (name, body) => ({ kind: 'cancel save and restart', name, ...readAs(promptNameSchema, await body()) }),
  ],
]);

/** The command that a `POST` to this path asks for. */
export const fleetActions: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['/host/resumed', { kind: 'host resumed' }],
  ['/stop-all', { kind: 'stop all' }],
  ['/restore-all', { kind: 'restore all' }],
  ['/cancel-restore', { kind: 'cancel restore' }],
]);

/** What was sent, as `schema` has it; throws `bad-request` with what does not fit. */
export function readAs<T>(schema: z.ZodMiniType<T>, value: unknown): T {
  const parsed = schema.safeParse(value, inEnglish);
  if (parsed.success) return parsed.data;
  throw new BowlineError('bad-request', `The request is not understood (${firstIssue(parsed.error, 'body')}).`);
}
