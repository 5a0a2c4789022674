import * as z from 'zod';

/** A row of the Agents view, as commands get it: names only, so that no row holds stale facts. */
export type AgentNode =
  | { readonly kind: 'agent'; readonly agent: string }
  | { readonly kind: 'endpoint'; readonly agent: string; readonly server: string };

/** What a command was pointed at. */
export interface CommandTarget {
  readonly agent?: string;
  readonly server?: string;
}

const targetSchema = z.union([
  z.string().transform((agent) => ({ agent })),
  z.object({ agent: z.string().exactOptional(), server: z.string().exactOptional() }),
]);

/** Reads a command's first argument: a name, a row of the view, or nothing. Anything else counts as nothing. */
export function readTarget(argument: unknown): CommandTarget {
  const parsed = targetSchema.safeParse(argument);
  return parsed.success ? parsed.data : {};
}
