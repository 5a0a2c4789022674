import { isPoisoned, toolNameTooLong } from '../claude/apiErrors.ts';
import type { HookFact } from '../claude/facts.ts';
import { without } from './agentUpdate.ts';
import type { Agent, SessionRecord } from './agent.ts';

/** So many turns in a row that fail by one kind of poison, and the conversation is quarantined. */
const quarantineAfter = 2;

/** An API error as a hook or a transcript tells it. */
export interface TurnError {
  readonly kind: string;
  readonly at: number;
}

/**
 * The conversation after the end of a turn. One that succeeded heals it; an error that passes tells nothing about it. A
 * turn that a person interrupts ends by neither hook (measured, claude 2.1.160 and 2.1.332).
 */
export function afterTurn(session: SessionRecord, hook: HookFact, at: number): SessionRecord {
  if (hook.event === 'Stop') return cleared(session, at);
  if (hook.event !== 'StopFailure' || hook.error === undefined) return session;
  if (!isPoisoned(hook.error) && hook.error !== toolNameTooLong) return session;
  const { apiErrors } = session;
  const inARow = apiErrors?.kind === hook.error ? apiErrors.inARow + 1 : 1;
  return counted(session, { kind: hook.error, inARow, at });
}

/**
 * The conversation after its transcript was read: `errors` are those of its last turns, oldest first. They are the same
 * ones that the hooks tell, so the longer count holds.
 */
export function afterReading(session: SessionRecord, errors: readonly TurnError[]): SessionRecord {
  const last = errors.at(-1);
  if (last === undefined) return session;
  const inARow = errors.filter(({ kind, at }) => kind === last.kind && at > (session.clearedAt ?? 0)).length;
  const known = session.apiErrors?.kind === last.kind ? session.apiErrors.inARow : 0;
  return inARow > known ? counted(session, { ...last, inARow }) : session;
}

/** The conversation without what was held against it; only later errors count. */
export function cleared(session: SessionRecord, at: number): SessionRecord {
  return { ...without(without(session, 'apiErrors'), 'quarantine'), clearedAt: at };
}

function counted(session: SessionRecord, apiErrors: NonNullable<SessionRecord['apiErrors']>): SessionRecord {
  const { kind, inARow, at } = apiErrors;
  if (session.quarantine !== undefined || inARow < quarantineAfter || !isPoisoned(kind))
    return { ...session, apiErrors };
  return { ...session, apiErrors, quarantine: { at, error: kind } };
}

/** Why no launch may resume the conversation, with the choices; undefined: one may. */
export function poisonSentence({ name, session }: Agent): string | undefined {
  if (session?.quarantine === undefined) return undefined;
  const what = session.quarantine.error.replace(/^poisoned: /, '');
  return (
    `Each turn of the conversation of ${name} fails with the same error (${what}). Begin anew with Force Fresh Restart, ` +
    'go on before the bad turn with Fork Conversation, or use Keep Trying.'
  );
}
