import type { ServerScope } from './serverEntry.ts';

/** An MCP server that the person's files name for an agent, as they were last read. Holds nothing that is in its definition. */
export interface OwnServer {
  readonly name: string;
  readonly scope: ServerScope;
  /** Other scopes that define this name, too, and are passed over. */
  readonly shadows: readonly ServerScope[];
  /** `direct`: Claude is given it as it stands, and talks to it itself. `not given`: Claude has no such server. */
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
 * direct ones by name and definition, with a space, which no endpoint's name has.
 */
export function serverMarks(servers: readonly OwnServer[] | undefined): Readonly<Record<string, 'on'>> {
  const marks = (servers ?? []).flatMap(({ name, way, definition = '' }): readonly string[] => {
    if (way === 'not given') return [];
    return [way === 'direct' ? `${name} ${definition}` : name];
  });
  return Object.fromEntries(marks.map((mark) => [mark, 'on']));
}
