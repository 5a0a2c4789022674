import { createHash } from 'node:crypto';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { ensurePrivateDirectory } from './files.ts';

/** Files of one agent below `agents/<name>`. */
export interface AgentPaths {
  readonly directory: string;
  /** The agent's key (256 bits, random). */
  readonly key: string;
  /** The file that `--mcp-config` names. */
  readonly mcpConfig: string;
  /** The file that `--settings` names. */
  readonly settings: string;
  /** Digests of the variables that its last launches were started with. */
  readonly launched: string;
  /** What the new conversation of a fresh launch is to be told, until its first hook has told it. */
  readonly handover: string;
  /** Holds the texts of prompts that are not settled, each in a file named by its id. */
  readonly prompts: string;
  /** Messages of other agents that it did not acknowledge yet. */
  readonly inbox: string;
  /** Notes that it keeps for itself. */
  readonly notes: string;
}

/** Every file name in the state directory. No other place spells one. */
export interface StatePaths {
  readonly directory: string;
  readonly endpoint: string;
  readonly holder: string;
  /** The port of the last holder, in decimal digits. */
  readonly port: string;
  /** The snapshot of the state. */
  readonly state: string;
  /** The snapshot before that one. */
  readonly previousState: string;
  readonly mcpSessions: string;
  readonly agents: string;
  readonly contexts: string;
  /** Notes that the agents keep for all. */
  readonly sharedNotes: string;
  readonly spool: string;
  readonly versions: string;
  /** Name of the directory below `versions` that is in use now, one line. */
  readonly currentVersion: string;
  /** Programs that may be Node, absolute paths, one per line, best first. */
  readonly nodes: string;
  readonly launcher: string;
  readonly fleetSocketDirectory: string;
  /** tmux's socket: in the state directory, or in a short private directory when that path would be too long. */
  readonly fleetSocket: string;
  readonly tmuxConfig: string;
  /** Holds a record of each stdio server that runs. */
  readonly upstreams: string;
  readonly logs: string;
  /** What the gateway writes to stdout and stderr. */
  readonly gatewayOutput: string;
  /** What the launcher's loop and the holder write to stdout and stderr. */
  readonly holderOutput: string;
  /** Events after the one of this number. */
  readonly journal: (after: number) => string;
  /** The number in the name of a journal; undefined: it is no journal's name. */
  readonly journalAfter: (name: string) => number | undefined;
  readonly agent: (name: string) => AgentPaths;
  /** The saved context of one agent. */
  readonly context: (agentName: string) => string;
  /** One JSONL log, for instance `log('gateway')`. */
  readonly log: (name: string) => string;
}

/** `sun_path` holds 108 bytes on Linux and 104 on macOS; tmux adds a suffix while it creates the socket. */
const longestSocketPath = 100;

/**
 * Where this person's fleet lives: `BOWLINE_HOME`, else `$XDG_STATE_HOME/bowline`, else `~/.local/state/bowline`.
 * A relative `XDG_STATE_HOME` is ignored (XDG Base Directory Specification).
 */
export function defaultStateDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const { BOWLINE_HOME: chosen, XDG_STATE_HOME: xdg } = environment;
  if (chosen !== undefined && chosen !== '') return resolve(chosen);
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'bowline');
  const home = environment['HOME'];
  return join(home !== undefined && isAbsolute(home) ? home : homedir(), '.local', 'state', 'bowline');
}

/** The paths below `stateDirectory`, which must be absolute. Depends on nothing else: every process gets the same. */
export function statePaths(stateDirectory: string): StatePaths {
  const below = (...names: string[]): string => join(stateDirectory, ...names);
  const socket = fleetSocket(stateDirectory);
  return {
    directory: stateDirectory,
    endpoint: below('endpoint.json'),
    holder: below('holder.json'),
    port: below('port'),
    state: below('state.json'),
    previousState: below('state.json.previous'),
    mcpSessions: below('mcp-sessions.json'),
    agents: below('agents'),
    contexts: below('contexts'),
    sharedNotes: below('shared-notes.json'),
    spool: below('spool'),
    versions: below('versions'),
    currentVersion: below('versions', 'current'),
    nodes: below('versions', 'nodes'),
    launcher: below('launcher'),
    fleetSocketDirectory: socket.directory,
    fleetSocket: socket.path,
    tmuxConfig: below('tmux.conf'),
    upstreams: below('upstreams'),
    logs: below('log'),
    gatewayOutput: below('log', 'gateway.out'),
    holderOutput: below('log', 'holder.out'),
    journal: (after) => below(`journal-${after}.jsonl`),
    journalAfter: (name) => {
      const digits = /^journal-(\d{1,15})\.jsonl$/.exec(name)?.[1];
      return digits === undefined ? undefined : Number(digits);
    },
    agent: (name) => ({
      directory: below('agents', name),
      key: below('agents', name, 'key'),
      mcpConfig: below('agents', name, 'mcp.json'),
      handover: below('agents', name, 'handover.json'),
      settings: below('agents', name, 'settings.json'),
      launched: below('agents', name, 'launched.json'),
      prompts: below('agents', name, 'prompts'),
      inbox: below('agents', name, 'inbox.json'),
      notes: below('agents', name, 'notes.json'),
    }),
    context: (agentName) => below('contexts', `${agentName}.json`),
    log: (name) => below('log', `${name}.jsonl`),
  };
}

/** Creates the state directory and those directories in it that every process may expect, all 0700. */
export async function ensureStateDirectories(paths: StatePaths): Promise<void> {
  await ensurePrivateDirectory(paths.directory);
  await Promise.all(
    [paths.agents, paths.contexts, paths.spool, paths.versions, paths.logs].map((directory) =>
      ensurePrivateDirectory(directory),
    ),
  );
}

function fleetSocket(stateDirectory: string): { directory: string; path: string } {
  const inState = join(stateDirectory, 'fleet.sock');
  if (Buffer.byteLength(inState) <= longestSocketPath) return { directory: stateDirectory, path: inState };
  // A fixed parent: TMPDIR and XDG_RUNTIME_DIR differ between a window, the gateway and a hook.
  const hash = createHash('sha256').update(stateDirectory).digest('hex').slice(0, 12);
  const directory = `/tmp/bowline-${userInfo().uid}-${hash}`;
  return { directory, path: join(directory, 'fleet.sock') };
}
