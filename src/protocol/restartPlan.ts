import * as z from 'zod/mini';
import type { Verdict } from '../core/guard/verdict.ts';
import type { Exactly } from './schema.ts';

const optional = z.exactOptional;

const verdictSchema = z.object({
  kind: z.literal('verdict'),
  sentence: z.string(),
  allowed: z.boolean(),
  reason: z.enum([
    'ok',
    'not running',
    'no completed turn',
    'turn in progress',
    'waiting for permission',
    'unsent input',
    'missing context',
    'missing explicit save',
    'different session',
    'save too old',
  ]),
  downgraded: z.enum(['tools unreachable', 'cannot save', 'no']),
  saveTrailsBySeconds: optional(z.number()),
  saveAgeSeconds: optional(z.number()),
  context: z.enum(['none', 'usable', 'stale']),
  screen: z.enum(['looked at', 'not looked at']),
  wouldBeLost: z.string(),
});

true satisfies Exactly<typeof verdictSchema, Verdict & { readonly kind: 'verdict'; readonly sentence: string }>;

const names = z.array(z.string());

/** The answer to `GET /agents/<name>/plan?mode=resume|fresh`: what a restart would do now. Holds no value of a variable. */
export const restartPlanSchema = z.object({
  agent: z.string(),
  asked: z.enum(['resume', 'fresh']),
  /** `fresh` also where nothing can be resumed. */
  mode: z.enum(['resume', 'fresh']),
  /** The conversation that is resumed. */
  sessionId: optional(z.string()),
  /** Why it cannot be resumed. */
  poisoned: optional(z.string()),
  directory: z.string(),
  /** As a line for a shell, with the program as it is set. */
  command: z.string(),
  guard: z.discriminatedUnion('kind', [
    verdictSchema,
    z.object({ kind: z.literal('error'), detail: z.string(), setting: z.enum(['block', 'allow']) }),
  ]),
  /** Variables that Bowline sets, against those of the process that runs now. */
  environment: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('compared'), added: names, changed: names, removed: names }),
    /** Nothing runs, or what runs was started before there was a record. */
    z.object({ kind: z.literal('nothing to compare'), set: names }),
  ]),
});

export type RestartPlan = z.infer<typeof restartPlanSchema>;
