/** So many failures within {@link span} milliseconds are judged one by one. */
const most = 100;
const span = 60_000;

/** Subjects that are remembered at once. */
const subjects = 1_000;

/**
 * Limits failures by what was tried: the agent whose key was shown, the token of the API. Only failures: whoever has the
 * right key is never kept waiting by those who have not.
 */
export class FailureLimit {
  private readonly counts = new Map<string, { readonly since: number; count: number }>();

  /** `now`: a clock that never jumps, in milliseconds. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Counts one more failure. The seconds after which failures are judged again, for `Retry-After`; undefined: this one is. */
  failed(subject: string): string | undefined {
    const now = this.now();
    const former = this.counts.get(subject);
    const current = former !== undefined && now - former.since < span ? former : { since: now, count: 0 };
    current.count++;
    this.counts.delete(subject);
    this.counts.set(subject, current);
    if (this.counts.size > subjects) {
      const [oldest] = this.counts.keys();
      if (oldest !== undefined) this.counts.delete(oldest);
    }
    return current.count > most ? String(Math.ceil((current.since + span - now) / 1_000)) : undefined;
  }
}
