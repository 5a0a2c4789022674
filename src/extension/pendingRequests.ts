import { BowlineError, type ErrorCode } from '../base/errors.ts';

interface Pending {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Every code, so that one which the compiler does not know of cannot be forgotten here. */
const codes: Readonly<Record<ErrorCode, true>> = {
  'bad-request': true,
  'unknown-agent': true,
  'name-invalid': true,
  'name-taken': true,
  'directory-missing': true,
  'claude-missing': true,
  'tmux-missing': true,
  'tmux-too-old': true,
  'tmux-no-answer': true,
  'tmux-failed': true,
  'not-running': true,
  'already-running': true,
  'guard-blocked': true,
  'conversation-poisoned': true,
  'conversation-in-use': true,
  'conversation-ambiguous': true,
  'transcripts-unreadable': true,
  'launch-refused': true,
  'definition-changed': true,
  'gateway-away': true,
  'gateway-cannot-start': true,
  'state-unreadable': true,
  'state-not-written': true,
  'takeover-refused': true,
  'too-large': true,
  cancelled: true,
  internal: true,
};

/** Requests that wait for the gateway's answer. */
export class PendingRequests {
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;

  /** Calls `send` with a new id and settles with the answer to it, or rejects with `gateway-away` after `limitMs`. */
  send(limitMs: number, send: (id: number) => void): Promise<void> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.pending.delete(id);
          reject(
            new BowlineError(
              'gateway-away',
              'The Bowline gateway has not answered in time. It may still be done: look at the Agents view before you try again.',
            ),
          );
        },
        Math.max(0, limitMs),
      );
      this.pending.set(id, { resolve, reject, timer });
      send(id);
    });
  }

  /** An id that nobody waits for (any more) is no error. */
  answer(id: number, error: { readonly code: string; readonly sentence: string } | undefined): void {
    const request = this.take(id);
    if (error === undefined) request?.resolve();
    else request?.reject(new BowlineError(isErrorCode(error.code) ? error.code : 'internal', error.sentence));
  }

  rejectAll(error: Error): void {
    for (const id of [...this.pending.keys()]) this.take(id)?.reject(error);
  }

  private take(id: number): Pending | undefined {
    const request = this.pending.get(id);
    this.pending.delete(id);
    clearTimeout(request?.timer);
    return request;
  }
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(codes, code);
}
