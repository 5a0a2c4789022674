/** What was seen of one (agent, endpoint). Replaced as a whole by a new launch; never holds an MCP session id itself. */
export interface BindingRecord {
  readonly launchId: string;
  /** First characters of a digest of the MCP session id: tells sessions apart, opens none. */
  readonly session?: string;
  readonly client?: ClientInfo;
  readonly initializedAt?: number;
  readonly toolsListedAt?: number;
  readonly stream: StreamState;
  /** The last authenticated request from this launch and the epoch that saw it. */
  readonly proof?: { readonly at: number; readonly epoch: string };
  readonly probe?: ProbeRecord;
  /** Since when, and why, the binding must be proven again. Cleared by an answered probe. */
  readonly doubt?: { readonly since: number; readonly cause: DoubtCause };
  /** The MCP server behind the endpoint has failed last, since when, and with which words. Of that epoch only. */
  readonly upstream?: { readonly failingSince: number; readonly epoch: string; readonly detail: string };
  /** Why and since when another connection to that server is called for, which nothing has verified yet. Of all epochs. */
  readonly update?: { readonly since: number; readonly why: UpdateCause };
  /** The last request that that server answered, and after how many milliseconds. */
  readonly goodCall?: { readonly at: number; readonly roundTripMs: number };
  readonly fault?: { readonly at: number; readonly cause: IdentityFaultCause };
}

export interface ClientInfo {
  readonly name: string;
  readonly version: string;
  readonly protocolVersion: string;
}

/** `changed`: the server has another definition. `asked`: a person wants it to be reconnected. */
export type UpdateCause = 'changed' | 'asked';

/** The standing GET stream on which probes travel. */
export type StreamState =
  | { readonly kind: 'open'; readonly since: number; readonly epoch: string }
  | { readonly kind: 'closed'; readonly since: number };

/**
 * The latest probe that has ended. `failures` counts unanswered ones in a row, 0: it was answered; `answeredAt` is that of
 * the last answer in this epoch.
 */
export interface ProbeRecord {
  readonly sentAt: number;
  readonly epoch: string;
  readonly answeredAt?: number;
  readonly roundTripMs?: number;
  readonly failures: number;
}

export type DoubtCause = 'epoch changed' | 'stream dropped' | 'host slept' | 'probe late' | 'asked';

/** Case table of identity: each has its own sentence and next step. */
export type IdentityFaultCause =
  | 'name missing'
  | 'name blank'
  | 'name literal variable'
  | 'name malformed'
  | 'name unknown'
  | 'key missing'
  | 'key wrong'
  | 'key of another agent'
  | 'launch stale'
  | 'server unknown'
  | 'two live launches';
