import { recordOf, textOf } from './fields.ts';

/**
 * What one line of a transcript tells (measured, claude 2.1.160 and 2.1.332). Lines of unknown types are `other`:
 * Claude adds types in every release.
 */
export interface TranscriptFact {
  readonly kind: 'prompt' | 'answer' | 'api error' | 'other';
  /** Number of its line, from 1. */
  readonly line: number;
  /** When it was written, in milliseconds since the epoch. */
  readonly at?: number;
  readonly sessionId?: string;
  readonly directory?: string;
  /** Of a prompt: what the person said. */
  readonly text?: string;
  /** Of an API error: what the person saw. */
  readonly errorText?: string;
  readonly errorCode?: string;
}

export interface TranscriptReading {
  readonly facts: readonly TranscriptFact[];
  /** Numbers (from 1) of lines that are no JSON object: torn, two in one, NULs. */
  readonly skipped: readonly number[];
}

/**
 * Reads the lines of a transcript. Lines end with LF only (U+2028 may stand inside a message); a bad line is skipped
 * alone. An unfinished last line, without its LF, is Claude still writing: neither a fact nor skipped.
 */
export function readTranscript(text: string): TranscriptReading {
  const facts: TranscriptFact[] = [];
  const skipped: number[] = [];
  const lines = text.split('\n');
  lines.pop();
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const fact = readTranscriptLine(line, index + 1);
    if (fact === undefined) skipped.push(index + 1);
    else facts.push(fact);
  }
  return { facts, skipped };
}

/** What the beginning of a transcript tells. */
export interface TranscriptHead {
  /** Where the conversation began: the first `cwd`; a later one is a `cd` of the agent. Absent: no line tells one. */
  readonly directory?: string;
  /** How the first prompt begins, on one line. Absent: none was found, or the directory is another one. */
  readonly firstPrompt?: string;
}

const promptCharacters = 120;

/**
 * Reads the beginning of a transcript as far as it is needed: to the first prompt, or to the first sign that the
 * conversation began in another directory than `realDirectory`, where one is given.
 */
export function readTranscriptHead(text: string, realDirectory?: string): TranscriptHead {
  let head: TranscriptHead = {};
  let line = 0;
  for (let start = 0, end = text.indexOf('\n'); end !== -1; start = end + 1, end = text.indexOf('\n', start)) {
    line += 1;
    const fact = readTranscriptLine(text.slice(start, end), line);
    if (fact === undefined) continue;
    if (head.directory === undefined && fact.directory !== undefined) head = { ...head, directory: fact.directory };
    const isElsewhere = realDirectory !== undefined && (head.directory ?? realDirectory) !== realDirectory;
    if (isElsewhere) return head;
    if (head.firstPrompt === undefined && fact.kind === 'prompt') {
      const said = (fact.text ?? '').slice(0, 4 * promptCharacters).replace(/\s+/g, ' ');
      head = { ...head, firstPrompt: said.trim().slice(0, promptCharacters) };
    }
    if (head.directory !== undefined && head.firstPrompt !== undefined) return head;
  }
  return head;
}

function readTranscriptLine(text: string, line: number): TranscriptFact | undefined {
  const fields = recordOf(parsed(text));
  if (fields === undefined) return undefined;
  const sessionId = textOf(fields['sessionId']);
  const directory = textOf(fields['cwd']);
  const at = Date.parse(textOf(fields['timestamp']) ?? '');
  const common = {
    line,
    ...(Number.isFinite(at) && { at }),
    ...(sessionId !== undefined && { sessionId }),
    ...(directory !== undefined && { directory }),
  };
  const content = recordOf(fields['message'])?.['content'];
  if (fields['isSidechain'] === true || fields['isMeta'] === true) return { ...common, kind: 'other' };
  if (fields['type'] === 'user') {
    return isPrompt(content)
      ? { ...common, kind: 'prompt', text: textsOf(content).join('\n') }
      : { ...common, kind: 'other' };
  }
  if (fields['type'] !== 'assistant') return { ...common, kind: 'other' };
  if (fields['isApiErrorMessage'] !== true) return { ...common, kind: 'answer' };
  const errorText = textsOf(content).join('\n');
  const errorCode = textOf(fields['error']);
  return { ...common, kind: 'api error', errorText, ...(errorCode !== undefined && { errorCode }) };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Slash commands, their output, and what Claude says in the person's name are `user` lines, too. */
function isPrompt(content: unknown): boolean {
  const texts = textsOf(content);
  const own = /^\s*(?:<(?:command-|local-command-|bash-|system-reminder|task-notification)|\[Request interrupted)/;
  return texts.length > 0 && !texts.every((text) => own.test(text));
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    const fields = recordOf(part);
    return fields?.['type'] === 'text' ? (textOf(fields['text']) ?? []) : [];
  });
}

const longestFolderName = 200;

/**
 * The name of the folder below `<config>/projects` in which Claude keeps the transcripts of a directory (its real path;
 * measured, claude 2.1.160 and 2.1.332): every UTF-16 unit outside [A-Za-z0-9] becomes `-`, and what is longer than 200
 * is cut there and told apart by a hash.
 */
export function projectFolderName(realDirectory: string): string {
  const folded = realDirectory.replace(/[^A-Za-z0-9]/g, '-');
  if (folded.length <= longestFolderName) return folded;
  let hash = 0;
  for (let index = 0; index < realDirectory.length; index += 1) {
    hash = (hash * 31 + realDirectory.charCodeAt(index)) | 0;
  }
  return `${folded.slice(0, longestFolderName)}-${Math.abs(hash).toString(36)}`;
}
