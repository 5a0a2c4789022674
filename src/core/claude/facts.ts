/** What a hook of Claude told, reduced to what the fleet needs. No prompt text, no answer text. */
export interface HookFact {
  readonly event: HookEvent;
  readonly sessionId: string;
  readonly transcriptPath?: string;
  /** Whether the transcript file existed when the hook ran: an id without a file never wins over one with a file. */
  readonly transcriptExists: boolean;
  /** SessionStart: `startup`, `resume`, `clear`, `compact`, `fork`. SessionEnd: its reason. */
  readonly source?: string;
  /** Notification only: what the person is asked for. */
  readonly waitingFor?: 'permission' | 'input';
  /** UserPromptSubmit only: digest of the prompt under the agent's key, where the hook could read that. */
  readonly promptDigest?: string;
  /** StopFailure only: the kind of API error. */
  readonly error?: string;
}

export type HookEvent =
  'SessionStart' | 'UserPromptSubmit' | 'Stop' | 'StopFailure' | 'SessionEnd' | 'Notification' | 'other';

/** What the last words of a process mean. */
export type ExitReading =
  'conversation not found' | 'login needed' | 'binary missing' | 'configuration error' | 'other';
