import { type Agent, currentLaunch } from './agent.ts';
import type { FleetState } from './state.ts';

/** What the record of an agent leaves to be found out before it is resumed. */
export type Search =
  /** Nothing: its conversation is on record, or it is to begin anew. */
  | { readonly kind: 'nothing' }
  /** Its conversation is not known to have taken a prompt; the transcript of this one would tell that it did. */
  | { readonly kind: 'one'; readonly sessionId: string }
  /** It was launched before, and the record names no conversation. */
  | { readonly kind: 'any' };

/** See {@link Search}. One that was never launched has said nothing yet. */
export function searchFor({ session, launchCount }: Agent): Search {
  if (session === undefined) return { kind: launchCount === 0 ? 'nothing' : 'any' };
  if (session.prompted || session.givenUp !== undefined) return { kind: 'nothing' };
  return { kind: 'one', sessionId: session.id };
}

/** What decides whether a transcript can be that of an agent's conversation. */
export interface Candidate {
  readonly sessionId: string;
  /** Where it began (a real path); absent: it does not tell. */
  readonly directory?: string;
  /** When it was last written, in milliseconds since the epoch. */
  readonly modifiedAt: number;
  readonly firstPrompt?: string;
  /** Whether all of it was looked through for a prompt. */
  readonly isReadWhole: boolean;
  /** Its last turns failed by an API error that comes back on every turn. */
  readonly isPoisoned: boolean;
}

export type Finding<C extends Candidate> =
  | { readonly kind: 'found'; readonly conversation: C }
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous'; readonly conversations: readonly C[] };

/**
 * The conversation that an agent lost from its record. Exactly one must fit.
 * `users`: the processes that work on conversations now. `own`: the agent runs; the conversation of its process is the
 * one, and where that is not known none is.
 */
export function findConversation<C extends Candidate>(
  fleet: FleetState,
  agent: Agent,
  candidates: readonly C[],
  processes: { readonly users: ReadonlyMap<string, number>; readonly own?: { readonly sessionId?: string } },
): Finding<C> {
  const { users, own } = processes;
  const search = searchFor(agent);
  if (search.kind === 'nothing') return { kind: 'none' };
  const wanted = search.kind === 'one' ? search : own;
  const fitting = candidates.filter((candidate) => {
    return wanted === undefined
      ? objectionTo(fleet, agent, candidate, users) === undefined
      : candidate.sessionId === wanted.sessionId && saysSomething(candidate);
  });
  const [conversation, ...more] = fitting;
  if (conversation === undefined) return { kind: 'none' };
  return more.length === 0 ? { kind: 'found', conversation } : { kind: 'ambiguous', conversations: fitting };
}

/** Why a conversation is never taken by itself, in a few words; undefined: it can be the one that was lost. */
export function objectionTo(
  { agents }: FleetState,
  agent: Agent,
  candidate: Candidate,
  users: ReadonlyMap<string, number>,
): string | undefined {
  const { sessionId } = candidate;
  for (const other of Object.values(agents)) {
    const records = [...other.lineage, other.session].filter((record) => record?.id === sessionId);
    const givenUp = records.findLast((record) => record?.givenUp !== undefined)?.givenUp;
    if (givenUp !== undefined) return `given up (${givenUp.why})`;
    if (records.some((record) => record?.quarantine !== undefined)) return 'each of its turns fails';
    if (other.name !== agent.name && (records.length > 0 || currentLaunch(other)?.expectedSessionId === sessionId)) {
      return `of ${other.name}`;
    }
  }
  if (candidate.directory !== agent.configuration.directory) return 'begun in another directory';
  if (candidate.isPoisoned) return 'each of its turns fails';
  const user = users.get(sessionId);
  if (user !== undefined) return `in use by process ${user}`;
  if (candidate.modifiedAt < agent.createdAt) return `older than ${agent.name}`;
  return saysSomething(candidate) ? undefined : 'nothing was said in it';
}

/** A prompt beyond what was looked through may be there. */
function saysSomething({ firstPrompt, isReadWhole }: Candidate): boolean {
  return firstPrompt !== undefined || !isReadWhole;
}
