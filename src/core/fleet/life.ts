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
  readonly cause: 'person' | 'healing' | 'wake' | 'configuration' | 'restore';
  /** The restoration that it is part of; absent: it is of none. */
  readonly restoration?: string;
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
  /** Another process that goes under this launch; `startTime` is opaque. */
  readonly doubled?: { readonly at: number; readonly pid: number; readonly startTime: string };
  /**
   * When it was last looked whether its hooks still tell of its turns, because its live-session file told of work that they
   * did not; `silentSince`: the time of a prompt that none told.
   */
  readonly hooks?: { readonly checkedAt: number; readonly silentSince?: number };
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
