import { isPoisoned, readApiError } from './apiErrors.ts';
import type { TranscriptFact } from './transcript.ts';

/** A turn that ended with an API error that comes back on every turn. */
export interface PoisonedTurn {
  /** See `ApiErrorKind`. */
  readonly kind: string;
  /** Milliseconds since the epoch; 0: the line tells no time. */
  readonly at: number;
}

interface Turn {
  readonly line: number;
  /** Whether anything was answered before it failed, if it did. */
  readonly answered: boolean;
  readonly error?: PoisonedTurn | 'passes';
}

/**
 * The last turns of a conversation, oldest first, that failed one after another by the same kind of poison. Turns between
 * them that were interrupted, or failed by what passes, tell nothing.
 */
export function poisonedTurns(facts: readonly TranscriptFact[]): readonly PoisonedTurn[] {
  return lastPoisoned(turnsOf(facts)).flatMap(({ error }) => (typeof error === 'object' ? error : []));
}

/** Where a copy of a poisoned conversation ends. */
export interface ForkPoint {
  /** So many lines of the transcript stay. */
  readonly lines: number;
  /** So many prompts are left out. */
  readonly leftOut: number;
}

/**
 * The point before the bad turn: the one that failed first. Where that one failed at once, what was said before it is bad
 * already (an image excepted, which came with it), and the turn before is left out, too. Undefined: no turn would stay.
 */
export function forkPoint(facts: readonly TranscriptFact[]): ForkPoint | undefined {
  const turns = turnsOf(facts);
  const [first] = lastPoisoned(turns);
  if (first === undefined || typeof first.error !== 'object') return undefined;
  const isInheritance = !first.answered && first.error.kind !== 'poisoned: image';
  const index = turns.indexOf(first) - (isInheritance ? 1 : 0);
  const cut = turns[index];
  return cut === undefined || index === 0 ? undefined : { lines: cut.line - 1, leftOut: turns.length - index };
}

function lastPoisoned(turns: readonly Turn[]): readonly Turn[] {
  const found: Turn[] = [];
  for (const turn of turns.toReversed()) {
    if (turn.error === 'passes' || (turn.error === undefined && !turn.answered)) continue;
    const kind = found[0]?.error;
    if (turn.error === undefined || (typeof kind === 'object' && kind.kind !== turn.error.kind)) break;
    found.unshift(turn);
  }
  return found;
}

function turnsOf(facts: readonly TranscriptFact[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const fact of facts) {
    const { line } = fact;
    if (fact.kind === 'prompt') {
      turns.push({ line, answered: false });
      continue;
    }
    const turn = turns.pop();
    if (turn === undefined) continue;
    if (fact.kind === 'answer') turns.push({ line: turn.line, answered: true });
    else if (fact.kind === 'api error') turns.push({ ...turn, error: errorOf(fact) });
    else turns.push(turn);
  }
  return turns;
}

function errorOf({ errorCode, errorText, at }: TranscriptFact): PoisonedTurn | 'passes' {
  const kind = readApiError({ code: errorCode, text: errorText });
  return isPoisoned(kind) ? { kind, at: at ?? 0 } : 'passes';
}
