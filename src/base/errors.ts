/** Reasons that a caller or a script can act on. Stable: they are part of the admin API. */
export type ErrorCode =
  | 'bad-request'
  | 'unknown-agent'
  | 'name-invalid'
  | 'name-taken'
  | 'directory-missing'
  | 'claude-missing'
  | 'tmux-missing'
  | 'tmux-too-old'
  | 'tmux-no-answer'
  | 'tmux-failed'
  | 'not-running'
  | 'already-running'
  | 'guard-blocked'
  | 'conversation-poisoned'
  | 'conversation-in-use'
  | 'conversation-ambiguous'
  | 'transcripts-unreadable'
  | 'launch-refused'
  | 'definition-changed'
  | 'gateway-away'
  | 'gateway-cannot-start'
  | 'state-unreadable'
  | 'state-not-written'
  | 'takeover-refused'
  | 'too-large'
  | 'cancelled'
  | 'internal';

/** An error that says who can act: a stable code, one sentence for the person with the next step, the cause for the log. */
export class BowlineError extends Error {
  /** What a script may read besides, as JSON. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    readonly code: ErrorCode,
    sentence: string,
    options?: { cause?: unknown; details?: Readonly<Record<string, unknown>> },
  ) {
    super(sentence, options);
    this.name = 'BowlineError';
    this.details = options?.details;
  }
}

/** The message of anything that can be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
