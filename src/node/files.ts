import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { BowlineError, messageOf } from '../base/errors.ts';
import { firstIssue, inEnglish } from '../protocol/issues.ts';

/** What {@link readJsonFile} found. A damaged file is left in place: its owner decides, see {@link quarantine}. */
export type JsonFile<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'missing' }
  /** `value`: what was read, if it is JSON at all. */
  | { readonly kind: 'damaged'; readonly reason: string; readonly value?: unknown };

/**
 * Replaces `path` so that a reader, and a machine that loses power, sees the old content or the new, never a part:
 * temporary file beside it, write, fsync, rename, fsync of the directory. The directory must exist.
 * `mode` (0600) holds whatever the umask is. On failure the temporary file is removed and the old content stands.
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: { readonly mode?: number } = {},
): Promise<void> {
  const mode = options.mode ?? 0o600;
  const temporary = `${path}.${randomBytes(9).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.chmod(mode);
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Makes renames and creations in `directory` durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Up to `bytes` of a file from `start` on, as text. Rejects with the system's error. */
export async function readPart(path: string, start: number, bytes: number): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, start);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The file's text, or undefined when there is none. */
export async function readTextFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrorWithCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Reads a JSON file through `schema`. `inspect` sees the parsed value before the schema does, and may throw.
 * Rejects with that, or when the file cannot be read at all (EACCES, EISDIR ...).
 */
export async function readJsonFile<T>(
  path: string,
  schema: z.core.$ZodType<T>,
  inspect?: (value: unknown) => void,
): Promise<JsonFile<T>> {
  const text = await readTextFile(path);
  if (text === undefined) return { kind: 'missing' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may be a secret.
    return { kind: 'damaged', reason: text === '' ? 'empty file' : 'not JSON' };
  }
  inspect?.(value);
  const parsed = z.safeParse(schema, value, inEnglish);
  if (parsed.success) return { kind: 'ok', value: parsed.data };
  return { kind: 'damaged', reason: firstIssue(parsed.error, 'root'), value };
}

/** Moves a damaged file out of the way, never over an earlier one, and resolves with its new path. */
export async function quarantine(path: string): Promise<string> {
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
  let target = `${path}.damaged-${stamp}`;
  for (let attempt = 2; await exists(target); attempt++) target = `${path}.damaged-${stamp}-${attempt}`;
  await rename(path, target);
  await syncDirectory(dirname(path));
  return target;
}

/**
 * Creates `path` (and its parents) as a directory of mode 0700, or makes an existing one private.
 * Throws `state-unreadable` when it is no directory, or belongs to someone else.
 */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const directory = await open(path, 'r');
    try {
      const status = await directory.stat();
      const user = process.getuid?.();
      if (!status.isDirectory()) throw new Error('not a directory');
      if (user !== undefined && status.uid !== user) throw new Error(`belongs to user ${status.uid}`);
      if ((status.mode & 0o077) !== 0) await directory.chmod(0o700);
    } finally {
      await directory.close();
    }
  } catch (error) {
    throw new BowlineError(
      'state-unreadable',
      `Bowline cannot use the directory ${path} (${messageOf(error)}). Move what stands there, or choose another place with BOWLINE_HOME.`,
      { cause: error },
    );
  }
}

/** Whether something is at `path`, a dangling symbolic link included. */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isErrorWithCode(error, 'ENOENT') || isErrorWithCode(error, 'ENOTDIR')) return false;
    throw error;
  }
}

/** Whether `error` is a system error of this code, for instance `ENOENT`. */
export function isErrorWithCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
