import * as z from 'zod';
import { hookFactSchema } from './fleetEvent.ts';
import { timeSchema } from './schema.ts';

/** Body of `POST /agents/<name>/session`, sent by the hook program with the agent's key as bearer. Also one line of the spool. */
export const hookReportSchema = z.object({
  /** When the hook ran, in milliseconds since the epoch: reports count by occurrence, not by arrival. */
  at: timeSchema,
  launchId: z.string().min(1).max(200),
  /** Random. A report that was posted late and spooled comes twice, and counts once. Absent from older hooks. */
  id: z.exactOptional(z.string().min(1).max(64)),
  hook: hookFactSchema,
});

export type HookReport = z.infer<typeof hookReportSchema>;
