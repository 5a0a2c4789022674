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
