import type { FleetEvent } from '../../src/core/fleet/events.ts';
import { reduce } from '../../src/core/fleet/reduce.ts';
import { emptyFleet, type FleetState } from '../../src/core/fleet/state.ts';
import type { AgentKeys, FleetPort } from '../../src/gateway/ports.ts';

/** A fleet in memory over the real reducer. */
export class MemoryFleet implements FleetPort {
  state: FleetState;
  /** Every fact that was reported, in order. */
  readonly events: FleetEvent[] = [];
  /** Called after each fact; for instance to plan and probe. */
  onReport: () => void = () => undefined;
  /** How facts that are reported durably come to the disk. */
  disk: () => Promise<void> = () => Promise.resolve();

  constructor(state: FleetState = emptyFleet) {
    this.state = state;
  }

  report(event: FleetEvent): void {
    this.events.push(event);
    this.state = reduce(this.state, event);
    this.onReport();
  }

  async reportDurably(event: FleetEvent): Promise<void> {
    this.report(event);
    await this.disk();
  }

  /** Kinds of the facts that were reported since `from`, in order. */
  kinds(from = 0): string[] {
    return this.events.slice(from).map((event) => event.kind);
  }

  ofKind<Kind extends FleetEvent['kind']>(kind: Kind): Extract<FleetEvent, { kind: Kind }>[] {
    return this.events.filter((event): event is Extract<FleetEvent, { kind: Kind }> => event.kind === kind);
  }
}

/** Facts that begin a run of the gateway. */
export function epochStarted(id: string, at: number, port: 'kept open' | 'was closed' = 'kept open'): FleetEvent {
  return { at, kind: 'epoch started', epoch: { id, startedAt: at, previousSeenAt: at, port } };
}

/** Facts that bring an agent to life: created, launched under the launch id `<name>.1`, confirmed by a SessionStart. */
export function agentRunning(name: string, at: number, launchId = `${name}.1`): readonly FleetEvent[] {
  return [
    {
      at,
      kind: 'agent created',
      name,
      configuration: {
        directory: `/work/${name}`,
        extraArguments: [],
        environment: {},
        servers: { 'bowline-self': 'on', 'bowline-memory': 'off' },
      },
    },
    ...launched(name, at, launchId),
  ];
}

/** Facts of a launch that is up. */
export function launched(name: string, at: number, launchId: string): readonly FleetEvent[] {
  return [
    {
      at,
      kind: 'launch requested',
      name,
      launch: { id: launchId, mode: 'fresh', requestedAt: at, cause: 'person' },
    },
    { at, kind: 'launched', name, launchId, process: { tmuxSession: '$1', pane: '%1', pid: 4242 } },
    {
      at,
      kind: 'hook reported',
      name,
      launchId,
      hook: { event: 'SessionStart', sessionId: `session-of-${name}`, transcriptExists: false, source: 'startup' },
    },
  ];
}

/** The process of a launch ended by itself. */
export function processEnded(name: string, at: number, launchId: string): FleetEvent {
  return {
    at,
    kind: 'process ended',
    name,
    launchId,
    exit: { how: 'exited', status: 0, reading: 'other', detail: 'exited' },
  };
}

/** The key of an agent in tests. */
export function keyOf(name: string): string {
  return `key-of-${name}`;
}

/** Keys made from names. */
export const memoryKeys: AgentKeys = {
  keyOf: (name) => Promise.resolve(keyOf(name)),
  ownerOf: (key) => /^key-of-([a-z0-9_-]+)$/.exec(key)?.[1],
};
