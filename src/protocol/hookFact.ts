import * as z from 'zod/mini';
import type { HookFact } from '../core/claude/facts.ts';
import type { Exactly } from './schema.ts';

const optional = z.exactOptional;

/** What a hook told, as the hook program sends it. */
export const hookFactSchema = z.object({
  event: z.enum(['SessionStart', 'UserPromptSubmit', 'Stop', 'StopFailure', 'SessionEnd', 'Notification', 'other']),
  sessionId: z.string().check(z.minLength(1), z.maxLength(200)),
  transcriptPath: optional(z.string().check(z.maxLength(4_096))),
  transcriptExists: z.boolean(),
  source: optional(z.string().check(z.maxLength(100))),
  waitingFor: optional(z.enum(['permission', 'input'])),
  promptDigest: optional(z.string().check(z.maxLength(100))),
  error: optional(z.string().check(z.maxLength(200))),
});

true satisfies Exactly<typeof hookFactSchema, HookFact>;
