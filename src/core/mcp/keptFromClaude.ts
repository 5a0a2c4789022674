import { reachedBy } from './expandTransport.ts';
import type { ResolvedServer } from './resolveServers.ts';
import { isClaudesOwn, type ServerEntry } from './serverEntry.ts';

/** Settings of Claude for one launch. */
export interface KeptFromClaude {
  readonly enableAllProjectMcpServers: false;
  readonly disabledMcpjsonServers: readonly string[];
  readonly deniedMcpServers: readonly Denied[];
}

type Denied =
  { readonly serverName: string } | { readonly serverUrl: string } | { readonly serverCommand: readonly string[] };

/**
 * Keeps Claude, which reads the person's files itself, from what is not given, and from running a plugin's or a connector's
 * copy of a server that is reached through Bowline: it would take that once, but does not see here that it is the same. All
 * of it measured with claude 2.1.160 and 2.1.332:
 * - `disabledMcpjsonServers` stops the question about servers of `.mcp.json` and wins over each approval, also over one that
 *   the repository gives itself; a server of that name in `--mcp-config` is not touched.
 * - `enableAllProjectMcpServers` here outranks that of every other file but the machine's: what comes into the project's file
 *   between the look and the start is asked about.
 * - `deniedMcpServers` holds for every source, `--mcp-config` too, by name, by address and by command with its arguments.
 *   2.1.160 passes over a name with other characters than letters, digits, "-" and "_".
 *
 * `builtIns`: names of the gateway's own servers that the agent is given, and which beat others of the same name.
 */
export function keptFromClaude(own: readonly ResolvedServer[], builtIns: readonly string[]): KeptFromClaude {
  const names = own.flatMap(({ server: { name, scope, way }, switchedOff }) => {
    const isDenied =
      way === 'not given' && switchedOff === undefined && !isClaudesOwn(scope) && !builtIns.includes(name);
    return isDenied ? [{ serverName: name }] : [];
  });
  const direct = new Set(own.flatMap(({ server, entry }) => (server.way === 'direct' ? reachedAsWritten(entry) : [])));
  const copies = own.flatMap(({ target }): readonly Denied[] => {
    // A star would stand for any text.
    if (target === undefined || direct.has(reachedBy(target)) || /[*]/.test(reachedBy(target))) return [];
    return target.kind === 'stdio'
      ? [{ serverCommand: [target.command, ...target.args] }]
      : [{ serverUrl: target.url }];
  });
  return {
    enableAllProjectMcpServers: false,
    disabledMcpjsonServers: own.flatMap(({ server, project }) =>
      project === undefined && server.scope !== 'project' ? [] : [server.name],
    ),
    deniedMcpServers: [...names, ...copies],
  };
}

/** A login or a program for headers is no reason to deny the address. */
function reachedAsWritten(entry: ServerEntry | undefined): readonly string[] {
  if (entry === undefined) return [];
  const { transport, raw } = entry;
  return [transport.kind === 'other' ? JSON.stringify(raw['url']) : reachedBy(transport)];
}
