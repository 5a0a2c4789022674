import type { AgentRow } from '../core/fleet/select.ts';

/** The one after `last` among those that wait; the first where `last` is none of them, or the last of them. */
export function nextInNeed(waiting: readonly AgentRow[], last: string | undefined): AgentRow | undefined {
  const at = waiting.findIndex(({ name }) => name === last);
  return waiting[at + 1] ?? waiting[0];
}
