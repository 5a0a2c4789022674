import * as z from 'zod/mini';

/** A row of the Agents view, as commands get it: names only, so that no row holds stale facts. */
export type AgentNode =
  | { readonly kind: 'agent'; readonly agent: string }
  | { readonly kind: 'endpoint'; readonly agent: string; readonly server: string }
  | { readonly kind: 'group'; readonly group: string };

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

const severalSchema = z.object({ agents: z.array(z.string()) });

/** The agents that a caller names as several; undefined: it names none, or one. */
export function readSeveral(argument: unknown): readonly string[] | undefined {
  const parsed = severalSchema.safeParse(argument);
  return parsed.success ? parsed.data.agents : undefined;
}

/**
 * What a command was pointed at, as one argument: VS Code hands over the row and, where several are selected, all of them.
 * Commands for one agent take the row.
 */
export function pointedAt(argument: unknown, selection: unknown): unknown {
  if (!Array.isArray(selection)) return argument;
  const names = new Set(selection.flatMap((row: unknown) => readTarget(row).agent ?? []));
  const { agent, server } = readTarget(argument);
  return names.size < 2 || agent === undefined || server !== undefined ? argument : { agent, agents: [...names] };
}
