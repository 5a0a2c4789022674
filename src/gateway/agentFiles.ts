import { rm } from 'node:fs/promises';
import { messageOf } from '../base/errors.ts';
import type { Disposable } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import type { FleetEventKind } from '../core/fleet/events.ts';
import { agentOf, type FleetState } from '../core/fleet/state.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { FleetService } from './fleetService.ts';
import type { AgentKeyFiles } from './keys.ts';
import type { McpEndpoint } from './mcp/endpoint.ts';

/** What {@link followAgents} works with. */
export interface FollowAgentsOptions {
  readonly fleet: FleetService;
  readonly keys: AgentKeyFiles;
  readonly paths: StatePaths;
  readonly mcp: McpEndpoint;
  readonly log: Log;
}

/** Ends MCP sessions with their launch, and removes the files of an agent with the agent. */
export function followAgents(options: FollowAgentsOptions): Disposable {
  const { fleet, mcp } = options;
  mcp.prune();
  return fleet.onEvent(({ event }) => {
    if (!mayEndALaunch.has(event.kind)) return;
    mcp.prune();
    const name = 'name' in event ? event.name : undefined;
    if (name !== undefined && fleet.state.agents[name] === undefined) void forget(name, options);
  });
}

const mayEndALaunch: ReadonlySet<FleetEventKind> = new Set([
  'agent removed',
  'launched',
  'launch requested',
  'launch failed',
  'process ended',
]);

/**
 * Removes the files of agents whose removal is on record, and that the run before left behind. Those of an agent of which
 * nothing is on record stay: the record may have been lost.
 */
export async function forgetRemoved({
  state,
  ...options
}: ForgetOptions & { readonly state: FleetState }): Promise<void> {
  const removed = state.audit.flatMap((record) => {
    return record.action === 'life' && record.to === 'removed' ? [record.agent] : [];
  });
  const names = [...new Set(removed)].filter((name) => agentOf(state, name) === undefined);
  await Promise.all(names.map((name) => forget(name, options)));
}

type ForgetOptions = Pick<FollowAgentsOptions, 'keys' | 'paths' | 'log'>;

/** A later agent of the same name must get neither the key nor the context of this one. */
async function forget(name: string, { keys, paths, log }: ForgetOptions): Promise<void> {
  try {
    await Promise.all([keys.remove(name), rm(paths.context(name), { force: true })]);
  } catch (error) {
    log.error('the files of a removed agent cannot be removed', { agent: name, reason: messageOf(error) });
  }
}
