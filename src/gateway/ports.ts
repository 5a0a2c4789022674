import type { FleetEvent } from '../core/fleet/events.ts';
import type { FleetState } from '../core/fleet/state.ts';

/** The fleet as the parts of the gateway see it: read the state, report facts. Only the fleet service implements it. */
export interface FleetPort {
  readonly state: FleetState;
  /** Folds a fact in and streams it to the windows; it is on disk a moment later. */
  report(event: FleetEvent): void;
  /** The same, resolved when the state with this fact is on disk (written, synced, renamed). */
  reportDurably(event: FleetEvent): Promise<void>;
}

/** The keys of the agents: 256 random bits each, in files of mode 0600, longer-lived than any run of the gateway. */
export interface AgentKeys {
  /** The key of an agent, made on first use. */
  keyOf(name: string): Promise<string>;
  /** Whose key this is; compares with every known key in constant time. */
  ownerOf(key: string): string | undefined;
}

/** Milliseconds since the epoch. */
export type Clock = () => number;
