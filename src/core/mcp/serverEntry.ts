/** Where a definition of an MCP server comes from. `local`, `project` and `user` are Claude's own words for them. */
export type ServerScope = 'bowline' | 'local' | 'project' | 'user' | ClaudesScope;

/** What Claude finds and runs by itself, for an agent as for a process that was started by hand. */
export type ClaudesScope = 'plugin' | 'claude.ai';

export function isClaudesOwn(scope: ServerScope): scope is ClaudesScope {
  return scope === 'plugin' || scope === 'claude.ai';
}

/** An entry of `mcpServers`, as it stands in a file: nothing in it is expanded. It may hold secrets. */
export interface ServerEntry {
  readonly transport: EntryTransport;
  /** The entry with all its fields, also those that Bowline does not know. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export type EntryTransport =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'http' | 'sse'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  /** The gateway cannot stand in between; `why` in one sentence. */
  | { readonly kind: 'other'; readonly why: string };

/** Why one is left to Claude whose definition has OAuth in it, or that answered as if it should. */
export const wantsLogin = 'It wants a login (OAuth), which Claude does by itself.';

/** What one file says in one scope. */
export interface EntrySource {
  readonly scope: ServerScope;
  /** Absolute path, or the name of the setting. */
  readonly file: string;
  readonly entries: Readonly<Record<string, ServerEntry>>;
  /** Entries that are none, each with why; they take nothing else with them. */
  readonly bad: readonly { readonly name: string; readonly reason: string }[];
  /** Variables of these entries alone, over those of the agent; absent: none. */
  readonly variables?: Readonly<Record<string, string>>;
}
