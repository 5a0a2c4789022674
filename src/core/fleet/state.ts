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
  /** Newest last, bounded. */
  readonly notices: readonly Notice[];
  /** What was done to agents, newest last, bounded. */
  readonly audit: readonly AuditRecord[];
  /** Binding events for the timeline, newest last, bounded. */
  readonly timeline: readonly TimelineEntry[];
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

/** What the person set in the editor and the gateway needs without it. */
export interface FleetSettings {
  /** Path of the `claude` program, or just `claude` to have it looked up. */
  readonly claudePath: string;
  /** Variables for every agent, over the allow-listed environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly healing: HealingPolicy;
  /** Path of the `tmux` program; absent: it is searched for. */
  readonly tmuxPath?: string;
  /** Whether the gateway acts itself while no window does; absent: `on`. */
  readonly handsWithoutWindow?: 'on' | 'off';
  /** What becomes of an agent whose conversation cannot be resumed; absent: `ask`. */
  readonly failedResume?: FailedResume;
  /** After so many minutes without work an agent is put to sleep; absent: never. */
  readonly idleMinutes?: number;
  /** What a restart does when the guard itself fails; absent: `block`. */
  readonly guardError?: 'block' | 'allow';
}

/**
 * How far Bowline may go by itself. `auto` goes up to a fresh start where the restart guard allows one, the two others up
 * to the rung they name.
 */
export type HealingPolicy = 'auto' | 'auto to reconnect' | 'auto to resume' | 'ask' | 'off';

/** `fresh`: it begins a new conversation by itself, and the loss is told. `ask`: a person chooses. */
export type FailedResume = 'ask' | 'fresh';

export interface HandsLease {
  readonly holder: string;
  readonly since: number;
}

/** Something a person should know that is not the state of one agent. */
export interface Notice {
  readonly at: number;
  readonly code: string;
  readonly sentence: string;
  readonly severity: 'info' | 'warning' | 'error';
  readonly agent?: string;
}

export type AuditRecord = GuardBypass | LifeChange;

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
}

export interface TimelineEntry {
  readonly at: number;
  readonly agent: string;
  readonly server?: string;
  readonly text: string;
}

/** A durable identity. */
export interface Agent {
  readonly name: string;
  readonly configuration: AgentConfiguration;
  readonly createdAt: number;
  readonly life: Life;
  readonly activity: Activity;
  /** The current conversation; absent until a hook told it. */
  readonly session?: SessionRecord;
  /** Former conversations, newest last, bounded. */
  readonly lineage: readonly SessionRecord[];
  /** Ids of the hook reports that were folded in, newest last, bounded; absent: none yet. */
  readonly hookReports?: readonly string[];
  /** Ended launches, newest last, bounded. */
  readonly launches: readonly EndedLaunch[];
  /** Launches requested so far; makes launch ids unique. */
  readonly launchCount: number;
  /** Raw observations per endpoint; health is derived from them. */
  readonly bindings: Readonly<Record<string, BindingRecord>>;
  /** Open incidents per endpoint: unbound since, and what was tried. */
  readonly incidents: Readonly<Record<string, Incident>>;
  readonly savedContext?: SavedContext;
  /** Prompts sent through Bowline, oldest first, settled ones bounded; absent: none yet. Their texts are in files only. */
  readonly prompts?: readonly PromptRecord[];
  /** The last `ask the agent to save, then restart`; absent: it was never asked for. */
  readonly saveRestart?: SaveRestart;
  /** Absent: its process has the configuration that the agent has, or none runs. */
  readonly relaunch?: Relaunch;
}

export interface AgentConfiguration {
  /** Absolute path. */
  readonly directory: string;
  readonly model?: string;
  readonly permissionMode?: string;
  readonly extraArguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Built-in endpoints by name; `off` ones are not given to the agent. */
  readonly servers: Readonly<Record<string, 'on' | 'off'>>;
  /** Absent: the fleet's policy. */
  readonly healing?: HealingPolicy;
  /** Absent: as the fleet. */
  readonly failedResume?: FailedResume;
  /** 0: never put to sleep. Absent: as the fleet. */
  readonly idleMinutes?: number;
  /** Absolute paths that it may work in besides its own. */
  readonly addedDirectories?: readonly string[];
  /** A word of Claude's; absent: Claude's own choice. */
  readonly effort?: string;
  /** What is appended to Claude's own system prompt. */
  readonly systemPrompt?: string;
}

export type LaunchMode = 'fresh' | 'resume';

/** One run of the process for an agent, as it was asked for. */
export interface Launch {
  readonly id: string;
  readonly mode: LaunchMode;
  /** The conversation that a resume must bring back. */
  readonly expectedSessionId?: string;
  /** The conversation of which the expected one is a copy; absent: it is none. */
  readonly forkOf?: string;
  readonly requestedAt: number;
  readonly cause: 'person' | 'healing' | 'wake' | 'configuration';
  /** The person chose to restart whatever the guard says. Absent: the hands look once more before they end anything. */
  readonly guard?: 'bypassed';
}

export interface EndedLaunch {
  readonly launch: Launch;
  readonly endedAt: number;
  readonly reason: EndReason;
  readonly detail?: string;
  /** It never began: the hands saw something on the screen that forbids a restart. Counts as no try of the healing. */
  readonly refused?: 'guard';
}

/** Why a launch ended: exactly one per launch (spec, Life of an agent). */
export type EndReason = 'idle' | 'replaced' | 'released' | 'shutdown' | 'crashed' | 'killed' | 'host gone';

/** Where the process of a launch runs. Ids are tmux's own; the pid alone proves nothing. */
export interface PaneProcess {
  readonly tmuxSession: string;
  readonly pane: string;
  readonly pid: number;
}

/** The stored part of an agent's life. What a person sees is derived by `lifeOf`. */
export type Life =
  | { readonly kind: 'stopped'; readonly at: number; readonly detail?: string }
  /**
   * A launch is asked for. `ending`: the former launch, alive until the hands end it for this one. `waits`: why it is not
   * started yet; it is tried again.
   */
  | {
      readonly kind: 'launching';
      readonly launch: Launch;
      readonly confirmedAt?: number;
      readonly ending?: RunningLaunch;
      readonly otherStart?: OtherStart;
      readonly waits?: string;
    }
  | { readonly kind: 'running'; readonly running: RunningLaunch }
  /**
   * `ending`: the former launch, where a restart was called off before the hands had ended that one. `running`: what an
   * agent goes back to that was to be put to sleep and is found to be in use.
   */
  | {
      readonly kind: 'stopping';
      readonly launch: Launch;
      readonly ending?: RunningLaunch;
      readonly running?: RunningLaunch;
      readonly reason: EndReason;
      readonly then: 'keep' | 'remove';
      /** Why its conversation was not resumed: what blocks the agent once the process is gone. */
      readonly failed?: string;
    }
  /** Ended because it was idle for long; a prompt or a person wakes it, with its conversation. */
  | { readonly kind: 'sleeping'; readonly at: number }
  /** No process, and only a person can go on. */
  | { readonly kind: 'blocked'; readonly at: number; readonly reason: BlockedReason; readonly detail: string }
  | { readonly kind: 'dead'; readonly at: number; readonly reason: DeadReason; readonly detail: string };

export interface RunningLaunch {
  readonly launch: Launch;
  readonly process: PaneProcess;
  readonly startedAt: number;
  /** The first SessionStart of this launch that fits it; absent: not confirmed yet. */
  readonly confirmedAt?: number;
  readonly otherStart?: OtherStart;
  /** When it was confirmed and the binding of every endpoint proven, for the first time; absent: not yet. */
  readonly verifiedAt?: number;
  /** It told nothing within the grace time; absent: it did, or has time left. */
  readonly unverified?: { readonly at: number; readonly detail: string };
  /** Why and when it was last kept from sleep; absent: it never was. */
  readonly awake?: { readonly at: number; readonly detail: string };
  /** Another process that works on the same conversation. */
  readonly shared?: { readonly at: number; readonly pid: number };
  /** What became of its program since it was started; absent: nothing. */
  readonly program?: 'replaced' | 'gone';
  /** A dialog on the screen that only a person may answer. */
  readonly dialog?: Dialog;
  /** The last look at its screen that was asked for. */
  readonly look?: ScreenLook;
  /** The last time that its turn was to be interrupted. */
  readonly interrupt?: Interrupt;
}

/** Asked for before a restart. */
export interface ScreenLook {
  readonly askedAt: number;
  /** Absent: the hands have not looked yet. */
  readonly seen?: { readonly at: number; readonly shows: ScreenShows };
}

/**
 * What stands where the input line is, unsent text also below a turn in progress. It may forbid an action, never justify
 * one.
 */
export type ScreenShows = 'empty input' | 'unsent input' | 'permission' | 'dialog' | 'unknown';

/** An Escape for one turn, the one that began at `turnSince`. */
export interface Interrupt {
  readonly id: string;
  readonly at: number;
  readonly turnSince: number;
  /** The window or script that asked. */
  readonly by: string;
  /** When Escape was pressed; absent: not yet. */
  readonly pressedAt?: number;
  /** Absent: it is under way. */
  readonly ended?: { readonly at: number; readonly outcome: InterruptOutcome; readonly detail: string };
}

export type InterruptOutcome = 'interrupted' | 'no effect';

/** A resume told the start of a conversation that was not asked for. Gone once the right one is told. */
export interface OtherStart {
  readonly sessionId: string;
  readonly transcript: 'there' | 'missing';
}

/** Dialogs that stop a launch or a turn; recognised, never answered. */
export type Dialog = 'trust' | 'mcp-approval' | 'permission' | 'login' | 'other';

export type BlockedReason =
  | 'resume failed'
  | 'login needed'
  | 'launch refused'
  | 'configuration error'
  | 'conversation poisoned'
  | 'conversation in use';

export type DeadReason = 'crashed' | 'crash loop' | 'healing failed' | 'binary missing';

export type ActivityKind = 'idle' | 'busy' | 'waiting for permission' | 'waiting for input' | 'unknown';

export interface Activity {
  readonly kind: ActivityKind;
  readonly since: number;
  readonly source: 'none' | 'hook' | 'live-session file';
  /** The last sign of work (prompt, end of a turn, tool call) in this conversation. */
  readonly lastWorkAt?: number;
}

/** One conversation of Claude. */
export interface SessionRecord {
  readonly id: string;
  readonly launchId: string;
  /** How it became current: `startup`, `resume`, `clear`, `compact`, `fork` or another word of the hook. */
  readonly cause: string;
  readonly since: number;
  /** Time of the report that made it current; older reports never change it. */
  readonly reportedAt: number;
  readonly transcriptPath?: string;
  /** Whether a prompt was ever taken: without one there is no transcript, and nothing to resume. */
  readonly prompted: boolean;
  /** Turns that ended in this conversation while Bowline watched. */
  readonly turnsCompleted: number;
  /** Nothing goes back to it by itself; a person may choose it. */
  readonly givenUp?: { readonly at: number; readonly why: 'fresh restart' | 'resume failed' };
  /** The last turns failed by this kind of poison, so many in a row; absent: none did. */
  readonly apiErrors?: { readonly kind: string; readonly inARow: number; readonly at: number };
  /** When a turn last succeeded, or a person chose to keep trying: what failed before does not count. */
  readonly clearedAt?: number;
  /** It took a prompt, and its transcript was not seen since; `missingAt`: it was looked for in vain. Absent: it is there. */
  readonly unsaved?: { readonly since: number; readonly path: string; readonly missingAt?: number };
  /** Every turn fails: the conversation is kept, and no launch resumes it. */
  readonly quarantine?: { readonly at: number; readonly error: string };
}

export interface SavedContext {
  readonly at: number;
  readonly sessionId?: string;
  readonly launchId: string;
  /** `explicit`: the agent called save_my_context. `carried`: handed over from an older conversation. */
  readonly origin: 'explicit' | 'carried';
  readonly bytes: number;
}

/** A prompt and what became of it. Holds nothing of its text. */
export interface PromptRecord {
  /** Chosen by the sender: asked for twice under one id, a prompt is sent once. */
  readonly id: string;
  readonly requestedAt: number;
  /** The window or script that sent it. */
  readonly by: string;
  /** Digest of the text under the agent's key; the hook that tells of its receipt names the same one. */
  readonly digest: string;
  readonly characters: number;
  readonly state: PromptState;
}

export type PromptState =
  /** `waitsFor`: what the hands saw in the way; what the brain sees in the way is derived, see `promptWaitsFor`. */
  | { readonly kind: 'queued'; readonly waitsFor?: string }
  /** The hands have taken it for this launch: it cannot be called off any more. */
  | { readonly kind: 'typing'; readonly launchId: string; readonly since: number }
  | { readonly kind: 'typed'; readonly launchId: string; readonly since: number; readonly at: number }
  /** The hook of that launch told it. */
  | { readonly kind: 'received'; readonly launchId: string; readonly at: number }
  /** It may have been typed, and no receipt came. It is never typed again; a late receipt still counts. */
  | {
      readonly kind: 'unknown';
      readonly launchId: string;
      readonly since: number;
      readonly at: number;
      readonly detail: string;
    }
  /** Nothing was typed. */
  | { readonly kind: 'failed'; readonly at: number; readonly detail: string };

/** A restart that waits until the agent has saved its context, because a prompt asks for it. */
export interface SaveRestart {
  readonly promptId: string;
  readonly mode: LaunchMode;
  readonly requestedAt: number;
  /** Absent: it is under way. */
  readonly ended?: {
    readonly at: number;
    readonly outcome: 'restarted' | 'not restarted';
    readonly detail: string;
  };
}

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
  readonly fault?: { readonly at: number; readonly cause: IdentityFaultCause };
}

export interface ClientInfo {
  readonly name: string;
  readonly version: string;
  readonly protocolVersion: string;
}

/** The standing GET stream on which probes travel. */
export type StreamState =
  | { readonly kind: 'open'; readonly since: number; readonly epoch: string }
  | { readonly kind: 'closed'; readonly since: number };

/** The latest probe. `failures` counts unanswered ones in a row; `answeredAt` is that of the last answer in this epoch. */
export interface ProbeRecord {
  readonly id: string;
  readonly sentAt: number;
  readonly epoch: string;
  readonly outcome: 'waiting' | 'answered' | 'failed';
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

/** An endpoint that is unbound since `since`, and the rungs tried. */
export interface Incident {
  readonly since: number;
  readonly cause: string;
  /** What it has in common with the incidents that began with it; absent: nothing is known. */
  readonly outage?: string;
  /** When a person asked for healing: the policy does not hold it back, and all tries count anew. */
  readonly reopenedAt?: number;
  readonly attempts: readonly HealingAttempt[];
  /** Set when Bowline stopped trying. The process is left as it is. */
  readonly end?: IncidentEnd & { readonly at: number };
}

/** `asked`: a person must choose. `dead`: everything that may be tried was, and did not help. */
export interface IncidentEnd {
  readonly kind: 'asked' | 'dead';
  readonly reason: 'configuration' | 'policy' | 'guard' | 'crash loop' | 'healing failed' | 'called off';
  /** What to do, in one sentence. */
  readonly detail: string;
}

export type Rung = 'adopt' | 'nudge' | 'reconnect' | 'resume' | 'fresh';

export interface HealingAttempt {
  readonly id: string;
  readonly rung: Rung;
  readonly startedAt: number;
  readonly by: 'policy' | 'person';
  /** When the hands reported the action as done; verification counts from here. */
  readonly actedAt?: number;
  readonly endedAt?: number;
  readonly outcome?: 'verified' | 'failed' | 'put off';
  readonly detail?: string;
}

/** A process that runs with another configuration than the agent has by now. */
export interface Relaunch {
  /** The last change. */
  readonly since: number;
  /** What the process was launched with, with the fleet's variables. */
  readonly from: AgentConfiguration;
  /** What differs, in words. */
  readonly changed: readonly string[];
  /** `idle`: relaunched by itself, with its conversation. `asked`: when a person restarts it. */
  readonly when: 'idle' | 'asked';
}

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

/** The launch whose process runs now. */
export function runningLaunch(agent: Agent): RunningLaunch | undefined {
  return agent.life.kind === 'running' ? agent.life.running : undefined;
}

/** The launch that reports and requests are counted for. */
export function currentLaunch(agent: Agent): Launch | undefined {
  switch (agent.life.kind) {
    case 'launching':
    case 'stopping':
      return agent.life.launch;
    case 'running':
      return agent.life.running.launch;
    case 'stopped':
    case 'sleeping':
    case 'blocked':
    case 'dead':
      return undefined;
  }
}

/** The launches whose process may be alive: the current one, and the former until it is ended for it. */
export function liveLaunches(agent: Agent): readonly Launch[] {
  const { life } = agent;
  const ending = life.kind === 'launching' || life.kind === 'stopping' ? life.ending?.launch : undefined;
  return [currentLaunch(agent), ending].filter((launch) => launch !== undefined);
}

export function liveLaunchIds(agent: Agent): readonly string[] {
  return liveLaunches(agent).map(({ id }) => id);
}

/** Ids of the launches that are on record: those whose process may be alive, and the last ones that ended. */
export function knownLaunchIds(agent: Agent): readonly string[] {
  return [...liveLaunchIds(agent), ...agent.launches.map(({ launch }) => launch.id)];
}

/** Names of the endpoints that this agent is given. */
export function enabledServers(agent: Agent): readonly string[] {
  return Object.entries(agent.configuration.servers)
    .filter(([, state]) => state === 'on')
    .map(([name]) => name);
}
