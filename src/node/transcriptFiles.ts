import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { messageOf } from '../base/errors.ts';
import { isSessionId } from '../core/claude/launchArguments.ts';
import { readTranscript, readTranscriptHead, type TranscriptHead } from '../core/claude/transcript.ts';
import { poisonedTurns } from '../core/claude/turns.ts';
import { isErrorWithCode } from './files.ts';

/** A file that Claude named by a conversation. */
export interface TranscriptFile {
  readonly sessionId: string;
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/** A transcript as its beginning and its end tell it. */
export interface FoundTranscript extends TranscriptFile {
  /** Where the conversation began; absent: no line tells it. */
  readonly directory?: string;
  readonly firstPrompt?: string;
  /** Whether all of it was looked through for a prompt. */
  readonly isReadWhole: boolean;
  /** Its last turns failed by an API error that comes back on every turn. */
  readonly isPoisoned: boolean;
}

export interface TranscriptSearch {
  readonly found: readonly FoundTranscript[];
  /** What could not be read and so may be anything, with the reason of the system. */
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[];
}

/** Bytes from the beginning in which directory and first prompt stand; more where they do not. */
const headBytes = [8 * 1024, 128 * 1024, 4 * 1024 * 1024] as const;
/** From the end: the last turns stand there. */
const tailBytes = 64 * 1024;
/** So many of the latest are looked at there. */
const tailsAtMost = 200;
/** A conversation whose last turns failed so often is poisoned. */
const poisonedAfter = 2;
/** Milliseconds for which files are read in one go. */
const sliceMs = 8;

/**
 * The conversations that began in `realDirectory`, among the transcripts of these folders, and those at `paths`, wherever
 * they began; latest first. Reads heads and tails only. What is no file (a directory, a loop of links, a pipe) is no
 * transcript.
 */
export async function searchTranscripts(
  realDirectory: string,
  places: { readonly folders: readonly string[]; readonly paths: readonly string[] },
): Promise<TranscriptSearch> {
  const unreadable: { path: string; reason: string }[] = [];
  const listed = await Promise.all(places.folders.map((folder) => listFolder(folder, unreadable)));
  const asked = new Set(places.paths);
  const reading = new Slices();
  const begun: Omit<FoundTranscript, 'isPoisoned'>[] = [];
  for (const path of new Set([...listed.flat(), ...asked])) {
    await reading.goOn();
    try {
      const transcript = readHead(path, asked.has(path) ? undefined : realDirectory);
      if (transcript !== undefined) begun.push(transcript);
    } catch (error) {
      if (!isAbsence(error)) unreadable.push({ path, reason: messageOf(error) });
    }
  }
  const found: FoundTranscript[] = [];
  for (const transcript of begun.sort((a, b) => b.modifiedAt - a.modifiedAt)) {
    await reading.goOn();
    found.push({ ...transcript, isPoisoned: found.length < tailsAtMost && endsPoisoned(transcript) });
  }
  return { found, unreadable };
}

/**
 * Lets others have their turn between blocking reads. Asynchronous ones wait for a thread each: for thousands of small
 * files that takes five times as long (measured).
 */
class Slices {
  private end = performance.now() + sliceMs;

  async goOn(): Promise<void> {
    if (performance.now() < this.end) return;
    await setImmediate();
    this.end = performance.now() + sliceMs;
  }
}

/** Transcripts are named by their session; what else lies there is no conversation. */
async function listFolder(folder: string, unreadable: { path: string; reason: string }[]): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names.filter(isTranscriptName).map((name) => join(folder, name));
  } catch (error) {
    if (!isAbsence(error)) unreadable.push({ path: folder, reason: messageOf(error) });
    return [];
  }
}

function isTranscriptName(name: string): boolean {
  return name.endsWith('.jsonl') && isSessionId(basename(name, '.jsonl'));
}

/** There is nothing at such a path that could be read by anybody. */
function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].some((code) => isErrorWithCode(error, code));
}

/** Undefined: it is no file, it began in another directory, or it says nothing of one. Blocks for a small read. */
function readHead(path: string, realDirectory: string | undefined): Omit<FoundTranscript, 'isPoisoned'> | undefined {
  return withFile(path, (descriptor) => {
    const status = fstatSync(descriptor);
    if (!status.isFile()) return undefined;
    const { size: bytes } = status;
    let head: TranscriptHead = {};
    let isReadWhole = false;
    for (const part of headBytes) {
      head = readTranscriptHead(textOf(descriptor, 0, Math.min(part, bytes)), realDirectory);
      isReadWhole = bytes <= part;
      const isElsewhere = realDirectory !== undefined && (head.directory ?? realDirectory) !== realDirectory;
      if (isReadWhole || isElsewhere || (head.directory !== undefined && head.firstPrompt !== undefined)) break;
    }
    if (realDirectory !== undefined && head.directory !== realDirectory) return undefined;
    const modifiedAt = Math.round(status.mtimeMs);
    return { sessionId: basename(path, '.jsonl'), path, bytes, modifiedAt, ...head, isReadWhole };
  });
}

/** What cannot be read any more tells no poison. */
function endsPoisoned({ path, bytes }: TranscriptFile): boolean {
  const start = Math.max(0, bytes - tailBytes);
  try {
    // A torn first line is skipped alone.
    const { facts } = readTranscript(withFile(path, (descriptor) => textOf(descriptor, start, bytes - start)));
    return poisonedTurns(facts).length >= poisonedAfter;
  } catch {
    return false;
  }
}

/** A pipe that stands there instead of a file would wait for a writer. */
function withFile<T>(path: string, read: (descriptor: number) => T): T {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return read(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function textOf(descriptor: number, start: number, bytes: number): string {
  const buffer = Buffer.allocUnsafe(bytes);
  return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, bytes, start));
}
