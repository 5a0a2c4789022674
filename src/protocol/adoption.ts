import * as z from 'zod/mini';
import { timeSchema } from './schema.ts';

const optional = z.exactOptional;

const foreignSchema = z.object({
  pid: z.int(),
  /** With the pid it names one process; absent: that cannot be proven. */
  startTime: optional(z.string()),
  sessionId: z.string(),
  directory: optional(z.string()),
  version: optional(z.string()),
  status: optional(z.enum(['busy', 'idle', 'waiting'])),
  startedAt: optional(timeSchema),
  /** How its first prompt begins, on one line. */
  firstPrompt: optional(z.string()),
  /** A free name for its agent. */
  name: z.string(),
  /** Why it cannot be adopted, and the next step; absent: it can. */
  refused: optional(z.string()),
});

/** The answer to `GET /foreign`: what can be adopted first, then the latest first. */
export const foreignListSchema = z.object({ processes: z.array(foreignSchema) });

export type ForeignRow = z.infer<typeof foreignSchema>;
