import * as z from 'zod/mini';
import { hookFactSchema } from './hookFact.ts';
import { timeSchema } from './schema.ts';

/** Body of `POST /agents/<name>/session`, sent by the hook program with the agent's key as bearer. Also one line of the spool. */
export const hookReportSchema = z.object({
  /** When the hook ran, in milliseconds since the epoch: reports count by occurrence, not by arrival. */
  at: timeSchema,
  launchId: z.string().check(z.minLength(1), z.maxLength(200)),
  /** Random. A report that was posted late and spooled comes twice, and counts once. Absent from older hooks. */
  id: z.exactOptional(z.string().check(z.minLength(1), z.maxLength(64))),
  hook: hookFactSchema,
  /** What ran the hook: Claude, or a shell of it. Absent: it could not be found out, or the hook is older. */
  process: z.exactOptional(
    z.object({ pid: z.int().check(z.positive()), startTime: z.string().check(z.maxLength(200)) }),
  ),
});

export type HookReport = z.infer<typeof hookReportSchema>;
