import * as z from 'zod/mini';

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
  z.pipe(
    z.string(),
    z.transform((agent: string) => ({ agent })),
  ),
  z.object({ agent: z.exactOptional(z.string()), server: z.exactOptional(z.string()) }),
]);

/** Reads a command's first argument: a name, a row of the view, or nothing. Anything else counts as nothing. */
export function readTarget(argument: unknown): CommandTarget {
  const parsed = targetSchema.safeParse(argument);
  return parsed.success ? parsed.data : {};
}
