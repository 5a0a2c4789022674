import { type ExpandedTransport, expandTransport } from './expandTransport.ts';
import type { OwnServer, ProjectApproval } from './ownServer.ts';
import {
  type ClaudesScope,
  type EntrySource,
  isClaudesOwn,
  type ServerEntry,
  type ServerScope,
  wantsLogin,
} from './serverEntry.ts';
import { stableText } from './stableText.ts';
import { withoutRepeated } from './withoutRepeated.ts';

/** What Claude's settings and records say about servers, all files together. */
export interface ClaudeDecisions {
  /** Servers of `.mcp.json` that are approved; `all`: every one. */
  readonly approved: readonly string[] | 'all';
  /** Servers of `.mcp.json` that are refused. */
  readonly refused: readonly string[];
  /** Servers of any scope that are switched off. */
  readonly off: readonly string[];
  /** Which servers may be used is ruled by more than their names, and Claude judges it. */
  readonly ruled: boolean;
}

export interface ResolveOptions {
  /** In the order in which they win. */
  readonly sources: readonly EntrySource[];
  readonly decisions: ClaudeDecisions;
  /** Digests of project definitions that the person approved in Bowline. */
  readonly approvedHere: ReadonlySet<string>;
  /** Servers that this agent is to reach without Bowline. */
  readonly around: readonly string[];
  /** Whether the person wants servers behind the gateway. */
  readonly gateway: 'on' | 'off';
  /** Digests of definitions whose server asked for a login. */
  readonly wantLogin: ReadonlySet<string>;
  /** Of the agent's process. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes a short text of a long one; equal texts, equal digests. */
  readonly digest: (text: string) => string;
}

/** A server as it is to reach Claude. */
export interface ResolvedServer {
  readonly server: OwnServer;
  /** For the gateway; absent: it is not through Bowline. */
  readonly target?: ExpandedTransport;
  /** Present: Claude itself keeps it off, until a person switches it on there. */
  readonly switchedOff?: true;
  /** As it stands in the person's file; absent: Claude is not given it. */
  readonly entry?: ServerEntry;
  /** The project's definition of this name and its file; absent: there is none. */
  readonly project?: { readonly file: string; readonly entry: ServerEntry };
}

/** A definition of one name. */
interface Candidate {
  readonly scope: ServerScope;
  readonly file: string;
  readonly entry: ServerEntry;
}

/** Part of a path, and a key of records. */
const endpointName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Which servers the agent has, each once, and how it reaches Claude. */
export function resolveServers(options: ResolveOptions): readonly ResolvedServer[] {
  const { sources } = options;
  const names = new Set(
    sources.flatMap(({ entries, bad }) => [...Object.keys(entries), ...bad.map(({ name }) => name)]),
  );
  return withoutRepeated(
    [...names].map((name) => resolve(name, options)),
    options,
  );
}

function resolve(name: string, options: ResolveOptions): ResolvedServer {
  const candidates = options.sources.flatMap(({ scope, file, entries }): readonly Candidate[] => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
    return entry === undefined ? [] : [{ scope, file, entry }];
  });
  const inProject = candidates.find(({ scope }) => scope === 'project');
  const approval = inProject === undefined ? undefined : approvalOf(name, inProject, options);
  const isApproved = approval?.state === 'by Claude' || approval?.state === 'by Bowline';
  const usable = candidates.filter((one) => one.scope !== 'project' || (one === inProject && isApproved));
  const winner = usable[0];
  const [first] = candidates;
  const known = {
    name,
    shadows: candidates.filter((one) => one !== (winner ?? first)).map(({ scope }) => scope),
    ...(approval !== undefined && { approval }),
  };
  const project = inProject === undefined ? {} : { project: { file: inProject.file, entry: inProject.entry } };
  const notGiven = (scope: ServerScope, reason: string): ResolvedServer => ({
    server: { ...known, scope, way: 'not given', reason },
    ...project,
  });
  if (winner === undefined) {
    if (first !== undefined && approval !== undefined) return notGiven(first.scope, unapproved(approval));
    const bad = options.sources.flatMap((source) =>
      source.bad.filter((one) => one.name === name).map(({ reason }) => ({ source, reason })),
    )[0];
    return notGiven(bad?.source.scope ?? 'user', `${bad?.source.file ?? ''}: ${bad?.reason ?? ''}.`);
  }
  const { scope, entry } = winner;
  if (options.decisions.off.includes(name))
    return { ...notGiven(scope, 'It is switched off in Claude, by /mcp or a setting.'), switchedOff: true };
  if (name.startsWith('bowline-')) {
    return notGiven(
      scope,
      'Names that begin with "bowline-" are those of Bowline itself. Give the server another name.',
    );
  }
  if (isClaudesOwn(scope)) {
    return { server: { ...known, scope, way: 'direct', reason: claudesReasons[scope] }, ...project };
  }
  const direct = whyDirect(name, entry, options);
  if (direct !== undefined) {
    const definition = options.digest(stableText(entry.raw)).slice(0, 8);
    return { server: { ...known, scope, way: 'direct', reason: direct, definition }, entry, ...project };
  }
  const expansion = expandTransport(entry.transport, options.environment);
  if (expansion.kind === 'wrong') return notGiven(scope, expansion.reason);
  return { server: { ...known, scope, way: 'through Bowline' }, target: expansion.target, entry, ...project };
}

function approvalOf(name: string, { file, entry }: Candidate, options: ResolveOptions): ProjectApproval {
  const { approved, refused } = options.decisions;
  const digest = options.digest(stableText([file, name, entry.raw]));
  if (refused.includes(name)) return { state: 'disabled', digest };
  if (approved === 'all' || approved.includes(name)) return { state: 'by Claude', digest };
  return { state: options.approvedHere.has(digest) ? 'by Bowline' : 'not approved', digest };
}

const claudesReasons: Readonly<Record<ClaudesScope, string>> = {
  plugin: 'It belongs to a plugin, and Claude runs it with that.',
  'claude.ai': 'It is a connector of claude.ai, which Claude reaches by itself while you are logged in there.',
};

function unapproved({ state }: ProjectApproval): string {
  return state === 'disabled'
    ? "It is disabled in Claude's settings (disabledMcpjsonServers)."
    : 'It comes with the project and is not approved. Approve it with "Bowline: MCP Servers", or in Claude.';
}

function whyDirect(name: string, entry: ServerEntry, options: ResolveOptions): string | undefined {
  if (options.decisions.ruled) {
    return "Claude's settings rule which MCP servers may be used (allowedMcpServers, deniedMcpServers), which Claude judges itself.";
  }
  if (!endpointName.test(name) || Object.hasOwn(Object.prototype, name)) {
    return 'Its name cannot be part of an address. Use letters, digits, "-" and "_".';
  }
  if (entry.transport.kind === 'other') return entry.transport.why;
  if (options.gateway === 'off') return 'The setting "bowline.mcpServersThroughGateway" is off.';
  if (options.around.includes(name)) return 'It is switched to go around Bowline for this agent.';
  if (options.wantLogin.has(loginKey(name, entry, options.digest))) {
    return wantsLogin;
  }
  return undefined;
}

/** What a definition is remembered by whose server asked for a login. */
export function loginKey(name: string, entry: ServerEntry, digest: ResolveOptions['digest']): string {
  return digest(stableText([name, entry.raw]));
}
