import * as z from 'zod/mini';
import type { RestoreVerdict } from '../core/fleet/restore.ts';
import { type Exactly, nameSchema } from './schema.ts';

const verdictSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('resume'), sessionId: z.string() }),
  z.object({ kind: z.literal('fresh') }),
  z.object({ kind: z.literal('blocked'), why: z.string() }),
]);

true satisfies Exactly<typeof verdictSchema, RestoreVerdict>;

/** Several conversations can be its own, or one that can be another agent's as well: a person chooses. */
const ambiguousSchema = z.object({ kind: z.literal('ambiguous'), why: z.string() });

const rowSchema = z.object({
  name: nameSchema,
  directory: z.string(),
  verdict: z.discriminatedUnion('kind', [...verdictSchema.def.options, ambiguousSchema]),
});

/** The answer to `GET /restore-plan`: the agents that ended with the tmux server, and what a restore would do for each now. */
export const restorePlanSchema = z.object({ agents: z.array(rowSchema) });

export type RestorePlan = z.infer<typeof restorePlanSchema>;
export type RestoreRow = z.infer<typeof rowSchema>;
