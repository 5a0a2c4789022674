import * as z from 'zod/mini';
import { timeSchema } from './schema.ts';

const optional = z.exactOptional;

const conversationSchema = z.object({
  sessionId: z.string(),
  /** `former`: in the agent's lineage. `other`: it began in the agent's directory, by whomever. */
  relation: z.enum(['current', 'former', 'other']),
  /** How it became current, see `SessionRecord`; absent for others. */
  cause: optional(z.string()),
  /** When its transcript was last written, else when it became current. */
  at: timeSchema,
  /** Absent: there is no transcript, and so nothing to resume. */
  transcript: optional(z.object({ path: z.string(), bytes: z.number() })),
  /** How its first prompt begins, on one line. */
  firstPrompt: optional(z.string()),
  /** Why it would not be taken by itself for a conversation that was lost from the record, in a few words. */
  objection: optional(z.string()),
});

/** The answer to `GET /agents/<name>/conversations`: the current one first, then the latest first. */
export const conversationListSchema = z.object({ conversations: z.array(conversationSchema) });

export type ConversationRow = z.infer<typeof conversationSchema>;
