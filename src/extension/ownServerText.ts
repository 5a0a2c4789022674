import type { OwnServer } from '../core/mcp/ownServer.ts';
import type { ServerScope } from '../core/mcp/serverEntry.ts';

/** What a person may do about a server. */
export type ServerAction = 'approve' | 'withdraw' | 'around' | 'through';

export const actionLabels: Readonly<Record<ServerAction, string>> = {
  approve: 'Approve This Definition...',
  withdraw: 'Withdraw the Approval',
  around: 'Reach It without Bowline',
  through: 'Reach It through Bowline',
};

const scopes: Readonly<Record<ServerScope, string>> = {
  bowline: "Bowline's settings",
  local: "Claude's local scope",
  project: 'the project',
  user: "Claude's user scope",
  plugin: 'a plugin of Claude',
  'claude.ai': 'claude.ai',
};

/** One line: how Claude reaches it, and why so. */
export function serverState({ way, reason }: Pick<OwnServer, 'way' | 'reason'>): string {
  const words = way === 'direct' ? 'not through Bowline' : way;
  return reason === undefined ? words : `${words}: ${reason}`;
}

/** One line: where it is defined, and which definitions it stands before. */
export function serverOrigin({ scope, shadows }: Pick<OwnServer, 'scope' | 'shadows'>): string {
  const others = [...new Set(shadows)].map((one) => scopes[one]);
  return others.length === 0
    ? `from ${scopes[scope]}`
    : `from ${scopes[scope]}, before that of ${others.join(' and ')}`;
}

/** `around`: the servers that the agent is switched to reach without Bowline. */
export function serverActions(server: OwnServer, around: readonly string[]): readonly ServerAction[] {
  const { name, way, approval } = server;
  return [
    ...(approval?.state === 'not approved' ? (['approve'] as const) : []),
    ...(approval?.state === 'by Bowline' ? (['withdraw'] as const) : []),
    ...(way === 'through Bowline' ? (['around'] as const) : []),
    ...(around.includes(name) ? (['through'] as const) : []),
  ];
}

/** A definition as a person is to see it: no character in it can look like another, or hide one. */
export function shownDefinition(definition: string): string {
  return definition.replace(/[^\n\x20-\x7e]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
