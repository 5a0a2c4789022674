import { readdir, readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { BowlineError, messageOf } from '../base/errors.ts';
import type { FleetEvent } from '../core/fleet/events.ts';
import { reduce } from '../core/fleet/reduce.ts';
import type { FleetState } from '../core/fleet/state.ts';
import { fleetEventSchema } from '../protocol/fleetEvent.ts';
import { firstIssue, inEnglish } from '../protocol/issues.ts';
import { formatOf, migrated, snapshotSchema, stateFilesFormat } from '../protocol/stateFiles.ts';
import { readTextFile } from './files.ts';
import type { StatePaths } from './statePaths.ts';

/** A state, and the number of the last event in it. */
export interface NumberedState {
  readonly state: FleetState;
  readonly sequence: number;
}

/** An event that changed the state. Numbers grow by one. */
export interface NumberedEvent {
  readonly sequence: number;
  readonly event: FleetEvent;
}

/** What a state file holds. */
export type SnapshotReading =
  /** `format`: as it is in the file. */
  | ({ readonly kind: 'ok'; readonly format: number } & NumberedState)
  | { readonly kind: 'missing' }
  /** `value`: what was read in the present format, if it is JSON at all. */
  | { readonly kind: 'damaged'; readonly reason: string; readonly value?: unknown };

/** A journal holds the events after one number. */
export interface Journal {
  readonly after: number;
  readonly path: string;
}

/** What the journals add to a snapshot. */
export interface Replay extends NumberedState {
  /** How much was read, in bytes. */
  readonly bytes: number;
  /** Whole records of a shape that this version does not know. They change nothing. */
  readonly unknown: number;
  /** What cannot be read in a journal, from its first damaged record to its end. */
  readonly rest?: { readonly path: string; readonly sequence: number; readonly lines: number; readonly bytes: Buffer };
  /** Journals that begin after a gap. */
  readonly detached: readonly Journal[];
}

const partBytes = 64 * 1024;

/**
 * The text of a state file in parts of some 64 KB, so that whoever writes them comes up for air in between.
 * The checksum is CRC-32 over the state's text, begun with the sequence.
 */
export function* snapshotParts({ state, sequence }: NumberedState): Generator<string> {
  let checksum = seedOf(sequence);
  let part = snapshotHead(sequence);
  let text = '';
  for (const piece of piecesOf(state)) {
    text += piece;
    if (text.length < partBytes) continue;
    checksum = crc32(text, checksum);
    yield part + text;
    part = text = '';
  }
  yield part + text + snapshotEnd(hexadecimal(crc32(text, checksum)));
}

/** A record of a journal: one line. The checksum is CRC-32 over the event's text, begun with the sequence. */
export function journalLine({ sequence, event }: NumberedEvent): string {
  const text = JSON.stringify(event);
  return `${lineHead(sequence)}${checksumOf(sequence, text)}${lineMiddle}${text}}\n`;
}

/** The first line of a journal. */
export const journalHeader = `${JSON.stringify({ format: stateFilesFormat })}\n`;

/**
 * Reads a state file. Rejects with `state-unreadable` when a newer Bowline wrote it, or when it cannot be read (EACCES ...).
 */
export async function readSnapshot(path: string): Promise<SnapshotReading> {
  const text = await orUnreadable(path, () => readTextFile(path));
  if (text === undefined) return { kind: 'missing' };
  const file = parseJson(text);
  // The parser's message quotes the text, which may be a secret.
  if (file === undefined) return { kind: 'damaged', reason: text === '' ? 'empty file' : 'not JSON' };
  refuseNewer(path, file);
  const value = migrated(file);
  const parsed = snapshotSchema.safeParse(value, inEnglish);
  if (!parsed.success) return { kind: 'damaged', reason: firstIssue(parsed.error, 'root'), value };
  const { state, sequence, checksum } = parsed.data;
  const format = formatOf(file) ?? stateFilesFormat;
  if (format === stateFilesFormat && !isWhole(text, sequence, checksum)) {
    return { kind: 'damaged', reason: 'the checksum does not fit', value };
  }
  return { kind: 'ok', format, state, sequence };
}

/** The journals in the state directory, oldest first. */
export async function listJournals(paths: StatePaths): Promise<readonly Journal[]> {
  const names = await readdir(paths.directory);
  return names
    .flatMap((name) => {
      const after = paths.journalAfter(name);
      return after === undefined ? [] : [{ after, path: paths.journal(after) }];
    })
    .sort((one, other) => one.after - other.after);
}

/**
 * Folds what the journals hold into a snapshot, up to the first damaged record. Changes no file.
 *
 * The events are facts, not differences, so the `reduce` of another version may fold them: it is what a window of another
 * version does with the stream, too. A version that takes over by hand-over finds an empty journal; only a crash between
 * two versions comes here, and then a fact of a shape that is unknown here changes nothing and is counted.
 */
export async function replay(from: NumberedState, journals: readonly Journal[]): Promise<Replay> {
  const joining = journals.filter(({ after }) => after >= from.sequence);
  let { state, sequence } = from;
  let [bytes, unknown] = [0, 0];
  for (const [index, { after, path }] of joining.entries()) {
    const next = joining[index + 1];
    if (after !== sequence) return { state, sequence, bytes, unknown, detached: joining.slice(index) };
    const content = await orUnreadable(path, () => readFile(path));
    const reader = new JournalReader(path, content, sequence);
    for (const event of reader) {
      if (event === 'unknown') unknown++;
      else state = reduce(state, event);
    }
    ({ sequence } = reader);
    bytes += reader.offset;
    const { rest } = reader;
    // A run that found the rest began the next journal at this very place.
    if (rest !== undefined && next?.after !== sequence) {
      return { state, sequence, bytes, unknown, rest, detached: joining.slice(index + 1) };
    }
  }
  return { state, sequence, bytes, unknown, detached: [] };
}

/** The state as it is on disk, journals folded in, for who only looks. Rejects as {@link readSnapshot} does. */
export async function readState(paths: StatePaths): Promise<SnapshotReading> {
  const snapshot = await readSnapshot(paths.state);
  if (snapshot.kind !== 'ok' || snapshot.format < stateFilesFormat) return snapshot;
  return { ...snapshot, ...(await replay(snapshot, await listJournals(paths))) };
}

/** Walks through the whole records of a journal. */
class JournalReader implements Iterable<FleetEvent | 'unknown'> {
  /** Up to where it is whole, in bytes. */
  offset = 0;

  constructor(
    private readonly path: string,
    private readonly content: Buffer,
    /** Number of the last whole record. */
    public sequence: number,
  ) {}

  get rest(): Replay['rest'] {
    if (this.offset >= this.content.length) return undefined;
    const bytes = this.content.subarray(this.offset);
    const lines = bytes.reduce((count, byte) => count + (byte === lineFeed ? 1 : 0), bytes.at(-1) === lineFeed ? 0 : 1);
    return { path: this.path, sequence: this.sequence + 1, lines, bytes };
  }

  *[Symbol.iterator](): Generator<FleetEvent | 'unknown'> {
    const header = this.line();
    const value = header && parseJson(header.text);
    if (header === undefined || value === undefined) return;
    refuseNewer(this.path, value);
    if (formatOf(value) !== stateFilesFormat) return;
    this.offset = header.end;
    for (let line = this.line(); line !== undefined; line = this.line()) {
      const text = eventText(line.text, this.sequence + 1);
      if (text === undefined) return;
      this.offset = line.end;
      this.sequence++;
      yield fleetEventSchema.safeParse(parseJson(text)).data ?? 'unknown';
    }
  }

  /** The line that begins at the offset; the last one may lack its end. */
  private line(): { readonly text: string; readonly end: number } | undefined {
    if (this.offset >= this.content.length) return undefined;
    const found = this.content.indexOf(lineFeed, this.offset);
    const end = found < 0 ? this.content.length : found;
    return { text: this.content.toString('utf8', this.offset, end), end: Math.min(end + 1, this.content.length) };
  }
}

const lineFeed = 0x0a;
const lineMiddle = '","event":';

function lineHead(sequence: number): string {
  return `{"sequence":${sequence},"checksum":"`;
}

/** The event in a line, if the line is whole and of this number. */
function eventText(line: string, sequence: number): string | undefined {
  const head = lineHead(sequence);
  const start = head.length + 8 + lineMiddle.length;
  const text = line.slice(start, -1);
  const whole = `${head}${checksumOf(sequence, text)}${lineMiddle}${text}}`;
  return line === whole ? text : undefined;
}

function snapshotHead(sequence: number): string {
  return `{"format":${stateFilesFormat},"sequence":${sequence},"state":`;
}

function snapshotEnd(checksum: string): string {
  return `,"checksum":"${checksum}"}\n`;
}

function isWhole(text: string, sequence: number, checksum = ''): boolean {
  const [head, end] = [snapshotHead(sequence), snapshotEnd(checksum)];
  if (!text.startsWith(head) || !text.endsWith(end)) return false;
  return checksumOf(sequence, text.slice(head.length, -end.length)) === checksum;
}

/** The JSON of a state, in pieces of one agent or one list. */
function* piecesOf({ agents, ...rest }: FleetState): Generator<string> {
  yield `${JSON.stringify(rest).slice(0, -1)},"agents":{`;
  let comma = '';
  for (const [name, agent] of Object.entries(agents)) {
    yield `${comma}${JSON.stringify(name)}:${JSON.stringify(agent)}`;
    comma = ',';
  }
  yield '}}';
}

function checksumOf(sequence: number, text: string): string {
  return hexadecimal(crc32(text, seedOf(sequence)));
}

function seedOf(sequence: number): number {
  return sequence % 2 ** 32;
}

function hexadecimal(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuseNewer(path: string, value: unknown): void {
  const format = formatOf(value) ?? 0;
  if (format <= stateFilesFormat) return;
  throw new BowlineError(
    'state-unreadable',
    `${path} was written by a newer Bowline (format ${format}, this one knows ${stateFilesFormat}). ` +
      'Update Bowline; nothing was changed.',
  );
}

async function orUnreadable<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new BowlineError(
      'state-unreadable',
      `Bowline cannot read ${path} (${messageOf(error)}). Make it readable for this user and try again.`,
      { cause: error },
    );
  }
}
