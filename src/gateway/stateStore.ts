import { readdir } from 'node:fs/promises';
import * as z from 'zod/mini';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { agentNamePattern } from '../core/fleet/names.ts';
import { emptyFleet, type FleetState, type Notice } from '../core/fleet/state.ts';
import { quarantine, writeFileAtomic } from '../node/files.ts';
import {
  type Journal,
  listJournals,
  type NumberedState,
  readSnapshot,
  type Replay,
  replay,
} from '../node/stateFiles.ts';
import type { StatePaths } from '../node/statePaths.ts';
import { fleetStateSchema } from '../protocol/fleetState.ts';
import { stateFilesFormat } from '../protocol/stateFiles.ts';

type News = Omit<Notice, 'at'>;

/** The state as the last run of the gateway left it, and what a person should know about how it was found. */
export interface LoadedState extends NumberedState {
  readonly notices: readonly News[];
  readonly base: JournalBase;
}

/** What lies on disk for a journal to go on from. */
export interface JournalBase {
  /** Whether a snapshot and the journals after it make up the state. */
  readonly kind: 'whole' | 'in part';
  /** The number that the snapshot goes up to. */
  readonly sequence: number;
  /** How much the journals after it hold, in bytes. */
  readonly journalBytes: number;
}

/** A state to fold the journals into. */
interface Found extends NumberedState {
  readonly kind: JournalBase['kind'];
  readonly journals: readonly Journal[];
  /** How it was found, told with what the journals could add. */
  readonly news: (added: Replay) => readonly News[];
}

const atMost = 4_000;

/**
 * Reads snapshot and journals. A damaged snapshot is put aside (quarantined), and the one before it is used, with the
 * journals since then; what no file holds whole is picked out agent by agent. A journal is used up to its first damaged
 * record, and the rest is kept aside. Nothing of this is silent: the notices tell it.
 * Rejects with `state-unreadable` when a newer Bowline wrote the files, or when they cannot be read (EACCES ...).
 */
export async function loadState(paths: StatePaths, log: Log): Promise<LoadedState> {
  const journals = await listJournals(paths);
  const found = await findState(paths, log, journals);
  const added = await replay(found, found.journals);
  const { state, sequence, bytes } = added;
  const strangers = journals.filter((journal) => !found.journals.includes(journal));
  const damages = await journalNews({ ...added, detached: [...strangers, ...added.detached] }, log);
  return {
    ...{ state, sequence },
    notices: [...found.news(added), ...damages].map((news) => ({ ...news, sentence: news.sentence.slice(0, atMost) })),
    base: { kind: found.kind, sequence: found.sequence, journalBytes: bytes },
  };
}

async function findState(paths: StatePaths, log: Log, journals: readonly Journal[]): Promise<Found> {
  const present = await readSnapshot(paths.state);
  // Journals that lie beside a state file of an older format belong to another one.
  if (present.kind === 'ok' && present.format < stateFilesFormat) return found(present, [], 'in part');
  if (present.kind === 'ok') return found(present, journals, 'whole');
  const former = await readSnapshot(paths.previousState);
  if (present.kind === 'missing') {
    if (former.kind === 'ok') {
      log.warn('the state file is missing; using the one before it');
      return { ...found(former, journals, 'whole'), news: (added) => [missingNews(added)] };
    }
    const names = await agentsWithFiles(paths);
    if (journals.length === 0 && names.length === 0) return found({ state: emptyFleet, sequence: 0 }, [], 'in part');
    log.error('the state file and the one before it are gone', { journals: journals.length });
    return { ...fromBeginning(journals), news: (added) => [lossNews(added, names)] };
  }
  const kept = await quarantine(paths.state);
  log.error('the state file is damaged', { reason: present.reason, kept });
  const damaged = (rest: string): readonly News[] => [
    {
      code: 'state-damaged',
      sentence: `The state file was damaged (${present.reason}) and is kept as ${kept}. ${rest}`,
      severity: 'error',
    },
  ];
  if (former.kind === 'ok') {
    return { ...found(former, journals, 'whole'), news: (added) => damaged(restoredSentence(added)) };
  }
  const picked = pick(present.value) ?? (former.kind === 'damaged' ? pick(former.value) : undefined);
  if (picked !== undefined) {
    log.warn('picked what is whole out of a damaged state', { dropped: picked.dropped });
    const sentence = `What could be read is used; ${picked.dropped} damaged parts are missing.`;
    return { ...found(picked, journals, 'in part'), news: () => damaged(sentence) };
  }
  return {
    ...fromBeginning(journals),
    news: (added) =>
      damaged(
        added.bytes > 0
          ? restoredSentence(added)
          : 'No earlier state can be read. What runs goes on and is not touched: create the agents again.',
      ),
  };
}

function found({ state, sequence }: NumberedState, journals: readonly Journal[], kind: JournalBase['kind']): Found {
  return { state, sequence, journals, kind, news: () => [] };
}

/** A fleet that is young enough has all that ever happened in its journals. */
function fromBeginning(journals: readonly Journal[]): Found {
  return found({ state: emptyFleet, sequence: 0 }, journals[0]?.after === 0 ? journals : [], 'in part');
}

function restoredSentence({ bytes }: Replay): string {
  return bytes > 0
    ? 'Bowline put the state together again from the one before it and the journal; nothing is to be done.'
    : 'Bowline uses the state before it; check the agents that changed last.';
}

function missingNews(added: Replay): News {
  const sentence = `The state file was missing. ${restoredSentence(added)}`;
  return { code: 'state-missing', sentence, severity: 'warning' };
}

async function agentsWithFiles(paths: StatePaths): Promise<readonly string[]> {
  return (await readdir(paths.agents).catch(() => [])).filter((name) => agentNamePattern.test(name)).sort();
}

/** Where agents have files, their record was lost, and an empty fleet must say so. */
function lossNews({ bytes }: Replay, names: readonly string[]): News {
  const gone = 'The state file and the one before it are gone';
  if (bytes > 0) {
    const sentence = `${gone}. Bowline put the state together again from the journal; nothing is to be done.`;
    return { code: 'state-missing', sentence, severity: 'warning' };
  }
  const shown = names.slice(0, 20).join(', ') + (names.length > 20 ? ', ...' : '');
  const sentence =
    `${gone}, so Bowline has no record of its agents. ` +
    `Files of ${shown} are still there. What runs goes on and is not touched: create the agents again; ` +
    'where one still runs, Bowline says how to reach it.';
  return { code: 'state-missing', sentence, severity: 'error' };
}

/** Keeps aside what the journals hold beyond their first damaged record or a gap. */
async function journalNews({ rest, detached, unknown }: Replay, log: Log): Promise<readonly News[]> {
  const news: News[] = [];
  const kept: string[] = [];
  if (rest !== undefined) kept.push(await keepRest(rest, log));
  for (const { path } of detached) kept.push(await quarantine(path));
  const where = kept.join(', ');
  if (rest?.lines === 1 && detached.length === 0) {
    log.warn('the last record of the journal is cut off', {
      event: rest.sequence,
      bytes: rest.bytes.length,
      kept: where,
    });
    news.push({
      code: 'journal-torn',
      sentence:
        'The last record of the journal was cut off in the middle of a write: it is dropped and kept as ' +
        `${where}. Nobody was answered for it; what it told is found out anew.`,
      severity: 'warning',
    });
  } else if (kept.length > 0) {
    log.error('the journal is damaged', { event: rest?.sequence, records: rest?.lines, kept: where });
    news.push({
      code: 'journal-damaged',
      sentence:
        `The journal of the state was damaged: what comes after the damage is not used and kept as ${where}. ` +
        'Check the agents that changed last.',
      severity: 'error',
    });
  }
  if (unknown > 0) {
    log.warn('events of another version of Bowline are not known to this one', { events: unknown });
    news.push({
      code: 'journal-unknown',
      sentence:
        `The journal holds ${unknown} changes that another version of Bowline wrote and this one does not know. ` +
        'They are left out: check the agents that changed last.',
      severity: 'warning',
    });
  }
  return news;
}

async function keepRest({ path, sequence, bytes }: NonNullable<Replay['rest']>, log: Log): Promise<string> {
  const kept = `${path}.dropped-${sequence}`;
  try {
    await writeFileAtomic(kept, bytes);
    return kept;
  } catch (error) {
    log.error('what is dropped cannot be kept aside', { kept, reason: messageOf(error) });
    return `the end of ${path}`;
  }
}

const looseSchema = z.object({
  sequence: z.catch(z.int(), 0),
  state: z.object({
    settings: z.unknown(),
    agents: z.record(z.string(), z.unknown()),
    audit: z.catch(z.array(z.unknown()), []),
  }),
});

/** Takes agents, settings and audit records that are whole; drops the rest, counted. Undefined: no agent can be told. */
function pick(value: unknown): (NumberedState & { readonly dropped: number }) | undefined {
  const loose = looseSchema.safeParse(value);
  if (!loose.success) return undefined;
  const { settings, agents, audit } = loose.data.state;
  let state: FleetState = emptyFleet;
  let dropped = 0;
  const take = (candidate: object): void => {
    const parsed = fleetStateSchema.safeParse(candidate);
    if (parsed.success) state = parsed.data;
    else dropped++;
  };
  take({ ...state, settings });
  for (const [name, agent] of Object.entries(agents)) take({ ...state, agents: { ...state.agents, [name]: agent } });
  for (const record of audit) take({ ...state, audit: [...state.audit, record] });
  return { state, sequence: loose.data.sequence, dropped };
}
