import { isClaudesOwn, type ServerScope } from './serverEntry.ts';

/** An MCP server of an agent, as the person's and Claude's files were last read. Holds nothing that is in its definition. */
export interface OwnServer {
  readonly name: string;
  readonly scope: ServerScope;
  /** Other scopes that define this name, too, and are passed over. */
  readonly shadows: readonly ServerScope[];
  /** `direct`: Claude is given it as it stands, or has it by itself, and talks to it. `not given`: Claude has no such server. */
  readonly way: 'through Bowline' | 'direct' | 'not given';
  /** Why it is not through Bowline, in one sentence; absent: it is. */
  readonly reason?: string;
  /** Of the project's definition of this name; absent: there is none. */
  readonly approval?: ProjectApproval;
  /** Of a direct definition: another one needs another launch. Eight characters, to compare only. */
  readonly definition?: string;
}

export interface ProjectApproval {
  readonly state: 'by Claude' | 'by Bowline' | 'not approved' | 'disabled';
  /** What a person approves in Bowline: this name, in this file, with exactly this definition. */
  readonly digest: string;
}

/** Names of the endpoints that the gateway serves for these servers. */
export function throughBowline(servers: readonly OwnServer[] | undefined): readonly string[] {
  return (servers ?? []).filter(({ way }) => way === 'through Bowline').map(({ name }) => name);
}

/**
 * By what a process's servers are compared: endpoints by name, because what is behind one is swapped in the gateway, and
 * direct ones by name and definition, with a space, which no endpoint's name has. What Claude runs by itself calls for no
 * launch.
 */
export function serverMarks(servers: readonly OwnServer[] | undefined): Readonly<Record<string, 'on'>> {
  const marks = (servers ?? []).flatMap(({ name, scope, way, definition = '' }): readonly string[] => {
    if (way === 'not given' || isClaudesOwn(scope)) return [];
    return [way === 'direct' ? `${name} ${definition}` : name];
  });
  return Object.fromEntries(marks.map((mark) => [mark, 'on']));
}
