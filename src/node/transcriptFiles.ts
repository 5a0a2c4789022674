import { closeSync, constants, openSync, readSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
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
  const paths = [...new Set([...listed.flat(), ...asked])];
  const files = (await Promise.all(paths.map((path) => lookAt(path, unreadable)))).flatMap((file) => file ?? []);
  const latestFirst = files.sort((a, b) => b.modifiedAt - a.modifiedAt);
  const reading = new Slices();
  const found: FoundTranscript[] = [];
  for (const file of latestFirst) {
    await reading.goOn();
    try {
      const transcript = readTranscriptFile(file, {
        ...(!asked.has(file.path) && { realDirectory }),
        tail: found.length < tailsAtMost ? 'read' : 'left out',
      });
      if (transcript !== undefined) found.push(transcript);
    } catch (error) {
      if (!isAbsence(error)) unreadable.push({ path: file.path, reason: messageOf(error) });
    }
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

async function lookAt(
  path: string,
  unreadable: { path: string; reason: string }[],
): Promise<TranscriptFile | undefined> {
  try {
    const status = await stat(path);
    if (!status.isFile()) return undefined;
    const sessionId = basename(path, '.jsonl');
    return { sessionId, path, bytes: status.size, modifiedAt: Math.round(status.mtimeMs) };
  } catch (error) {
    if (!isAbsence(error)) unreadable.push({ path, reason: messageOf(error) });
    return undefined;
  }
}

/** There is nothing at such a path that could be read by anybody. */
function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].some((code) => isErrorWithCode(error, code));
}

/** Undefined: it began in another directory, or says nothing of one. Blocks for the time of two small reads. */
function readTranscriptFile(
  file: TranscriptFile,
  { realDirectory, tail }: { readonly realDirectory?: string; readonly tail: 'read' | 'left out' },
): FoundTranscript | undefined {
  // A pipe that took the file's place would wait for a writer.
  const descriptor = openSync(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    let head: TranscriptHead = {};
    let isReadWhole = false;
    for (const bytes of headBytes) {
      head = readTranscriptHead(textOf(descriptor, 0, Math.min(bytes, file.bytes)), realDirectory);
      isReadWhole = file.bytes <= bytes;
      const isElsewhere = realDirectory !== undefined && (head.directory ?? realDirectory) !== realDirectory;
      if (isReadWhole || isElsewhere || (head.directory !== undefined && head.firstPrompt !== undefined)) break;
    }
    if (realDirectory !== undefined && head.directory !== realDirectory) return undefined;
    const start = tail === 'read' ? Math.max(0, file.bytes - tailBytes) : file.bytes;
    // A torn first line is skipped alone.
    const { facts } = readTranscript(textOf(descriptor, start, file.bytes - start));
    return { ...file, ...head, isReadWhole, isPoisoned: poisonedTurns(facts).length >= poisonedAfter };
  } finally {
    closeSync(descriptor);
  }
}

function textOf(descriptor: number, start: number, bytes: number): string {
  const buffer = Buffer.allocUnsafe(bytes);
  return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, bytes, start));
}
