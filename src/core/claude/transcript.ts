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

/** What makes a transcript a candidate for being resumed. */
export interface Conversation {
  /** The name of its file: the lines of a fork may name the parent. */
  readonly sessionId: string;
  /** The `cwd` of its lines. A line without one says nothing. */
  readonly directories: readonly string[];
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/**
 * The conversations that were started in this directory (its real path), latest first. The name of the project folder
 * proves nothing: different directories share one. The first `cwd` decides; a later one is a `cd` of the agent.
 */
export function conversationsOf<C extends Conversation>(realDirectory: string, conversations: readonly C[]): C[] {
  return conversations
    .filter(({ directories }) => directories[0] === realDirectory)
    .sort((a, b) => b.modifiedAt - a.modifiedAt);
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
