import type { Agent } from './agent.ts';
import type { FleetSettings } from './configuration.ts';
import type { LaunchMode, Life } from './life.ts';

/**
 * The fleet as the gateway knows it. Pure data: it is written to the state file, sent to every window, and changed by
 * {@link reduce} alone. All times are milliseconds since the epoch. What can be derived (binding health, the life shown
 * to a person) is not stored.
 */
export interface FleetState {
  readonly format: 1;
  /** The run of the gateway that owns the state now. Absent only before the first start. */
  readonly epoch?: Epoch;
  readonly settings: FleetSettings;
  readonly agents: Readonly<Record<string, Agent>>;
  /** Who executes effects now; absent: nobody, effects wait. */
  readonly hands?: HandsLease;
  /** The last time that somebody had the fleet compared with its record; absent: nobody has. */
  readonly reconciliation?: Reconciliation;
  /** The last time that the agents which ended with the tmux server were to be brought back; absent: they never were. */
  readonly restoration?: Restoration;
  /** Definitions of MCP servers in projects that a person approved, newest last, bounded; absent: none. */
  readonly approvedServers?: readonly ServerApproval[];
  /** Digests of definitions whose server wants a login, newest last, bounded; absent: none. */
  readonly loginServers?: readonly string[];
  /** Newest last, bounded. */
  readonly notices: readonly Notice[];
  /** What was done to agents, newest last, bounded. */
  readonly audit: readonly AuditRecord[];
  /** Binding events for the timeline, newest last, bounded. */
  readonly timeline: readonly TimelineEntry[];
}

/** A person's word that a server of a project may run. */
export interface ServerApproval {
  /** Of its file, name and definition. */
  readonly digest: string;
  readonly server: string;
  /** Absolute path. */
  readonly file: string;
  readonly at: number;
  readonly by: string;
}

/** One run of the gateway. */
export interface Epoch {
  readonly id: string;
  readonly startedAt: number;
  /** When the run before this one was last known to live. */
  readonly previousSeenAt?: number;
  /** Whether the listening socket stayed open since then (same holder), so that clients waited instead of being refused. */
  readonly port: 'kept open' | 'was closed';
  /** When the gateway had to take another port; what was launched before asks at the old one. Absent: never. */
  readonly portSince?: number;
}

export interface HandsLease {
  readonly holder: string;
  readonly since: number;
}

export interface Reconciliation {
  readonly askedAt: number;
  /** Absent: it is under way. `problem`: why it could not be found out. */
  readonly done?: { readonly at: number; readonly differences: number; readonly problem?: string };
}

export interface Restoration {
  readonly id: string;
  readonly askedAt: number;
  /** The window or script that asked. */
  readonly by: string;
  /** In the order in which they are started. */
  readonly agents: readonly string[];
  /** Absent: it is under way. `left`: those that were not brought back, because it was called off. */
  readonly ended?: {
    readonly at: number;
    readonly outcome: 'done' | 'called off';
    readonly left: readonly string[];
  };
}

/** Something a person should know that is not the state of one agent. */
export interface Notice {
  readonly at: number;
  readonly code: string;
  readonly sentence: string;
  readonly severity: 'info' | 'warning' | 'error';
  readonly agent?: string;
}

export type AuditRecord = GuardBypass | LifeChange | Deed;

export interface GuardBypass {
  readonly at: number;
  readonly agent: string;
  readonly action: 'guard bypassed';
  readonly mode: LaunchMode;
  /** The window or script that asked. */
  readonly by: string;
  readonly verdict: string;
  readonly reason: string;
}

/** One step in the stored life of an agent, and the fact that brought it about. */
export interface LifeChange {
  readonly at: number;
  readonly agent: string;
  readonly action: 'life';
  readonly from: Life['kind'] | 'none';
  readonly to: Life['kind'] | 'removed';
  readonly trigger: string;
  /** As in {@link Deed}. */
  readonly by?: string;
  readonly detail?: string;
}

/** What was done to an agent or found of it without a step in its stored life. */
export interface Deed {
  readonly at: number;
  readonly agent: string;
  readonly action: 'deed';
  readonly what: string;
  /** The window or script that asked, `rule: ...`, `hands: <who has them>`, `hook`, `agent` or `gateway`. */
  readonly by: string;
  readonly detail?: string;
}

export interface TimelineEntry {
  readonly at: number;
  /** Absent: it concerns the whole fleet. */
  readonly agent?: string;
  readonly server?: string;
  readonly text: string;
  /** What it means for the binding; absent: nothing. */
  readonly kind?: TimelineKind;
}

/** `epoch`: all bindings are to be proven again. `outage`: one was lost or fails. `heal`: it is being healed or is back. */
export type TimelineKind = 'epoch' | 'outage' | 'heal';

/** The state before anything happened. */
export const emptyFleet: FleetState = {
  format: 1,
  settings: { claudePath: 'claude', environment: {}, healing: 'auto' },
  agents: {},
  notices: [],
  audit: [],
  timeline: [],
};

/** The agent of that name; undefined also for a word that every object answers to. */
export function agentOf({ agents }: Pick<FleetState, 'agents'>, name: string): Agent | undefined {
  return Object.hasOwn(agents, name) ? agents[name] : undefined;
}
