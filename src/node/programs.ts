import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, utimes } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import {
  ensurePrivateDirectory,
  exists,
  isErrorWithCode,
  readTextFile,
  syncDirectory,
  writeFileAtomic,
} from './files.ts';
import { launcherScript } from './launcherScript.ts';
import { compareVersions, currentVersion, programNames } from './programVersions.ts';
import type { StatePaths } from './statePaths.ts';

/** What {@link installPrograms} and {@link copyPrograms} copy, and what for. */
export interface ProgramSource {
  /** Holds holder.js, gateway.js and hook.js. */
  readonly distDirectory: string;
  /** Version of the extension. */
  readonly version: string;
  readonly paths: StatePaths;
  /** Programs that run JavaScript as Node >= 20.19, absolute paths, best first; the editor's `process.execPath`. */
  readonly nodes: readonly string[];
}

/**
 * Installs for a holder that is to be started: {@link copyPrograms}, and points `versions/current` at them, unless a newer
 * version is installed. A window whose own files an update has removed goes on with what is installed.
 * Resolves with the directory of its programs. Rejects with the file system's error (ENOENT of dist, ENOSPC, ENOTDIR ...).
 */
export async function installPrograms(source: ProgramSource): Promise<string> {
  const { paths } = source;
  try {
    const directory = await copyPrograms(source);
    if (!(await isOlder(paths, basename(directory)))) {
      await writeFileAtomic(paths.currentVersion, `${basename(directory)}\n`);
    }
    return directory;
  } catch (error) {
    const current = isErrorWithCode(error, 'ENOENT') ? await currentVersion(paths) : undefined;
    if (current === undefined || (await exists(source.distDirectory))) throw error;
    return join(paths.versions, current);
  }
}

/**
 * Copies the programs to `versions/<version>-<first 8 digits of the content's SHA-256>`, makes their Node known and writes
 * the launcher, unless a newer version has written it. What `versions/current` names goes on until a successor has
 * taken over. Safe to call from several windows at once and again at any time: an installed version is only mended.
 * Resolves with the directory; rejects as {@link installPrograms} does.
 */
export async function copyPrograms(source: ProgramSource): Promise<string> {
  const { paths } = source;
  const files = await readPrograms(source);
  const directoryName = nameFor(source, files);
  const directory = join(paths.versions, directoryName);

  await ensurePrivateDirectory(paths.directory);
  await ensurePrivateDirectory(paths.versions);
  if (await exists(directory)) await touch(directory);
  else await copyAsOne(paths, directory, files);
  for (const { name, content } of files) {
    const path = join(directory, name);
    if (!(await hasContent(path, content))) await writeFileAtomic(path, content);
  }
  await writeFileAtomic(paths.nodes, await nodeList(source));
  if (!(await isOlder(paths, directoryName))) await writeFileAtomic(paths.launcher, launcherScript, { mode: 0o700 });
  return directory;
}

/** The name that the directory of these programs has below `versions`, installed or not. */
export async function versionNameOf(source: Omit<ProgramSource, 'paths'>): Promise<string> {
  return nameFor(source, await readPrograms(source));
}

function readPrograms({ distDirectory }: Omit<ProgramSource, 'paths'>): Promise<readonly ProgramFile[]> {
  return Promise.all(programNames.map(async (name) => ({ name, content: await readFile(join(distDirectory, name)) })));
}

function nameFor({ version }: Omit<ProgramSource, 'paths'>, files: readonly ProgramFile[]): string {
  const hash = createHash('sha256');
  for (const { name, content } of files) hash.update(`${name}\n${content.byteLength}\n`).update(content);
  return `${safeName(version)}-${hash.digest('hex').slice(0, 8)}`;
}

/** Whether a newer version than `name` is in use. */
async function isOlder(paths: StatePaths, name: string): Promise<boolean> {
  const current = await currentVersion(paths);
  return current !== undefined && compareVersions(name, current) < 0;
}

/** Somebody wants it: it is not removed in the next hour. */
async function touch(directory: string): Promise<void> {
  const now = new Date();
  await utimes(directory, now, now);
}

interface ProgramFile {
  readonly name: string;
  readonly content: Buffer;
}

/** The directory appears with all of its files or not at all. Another window may have been faster. */
async function copyAsOne(paths: StatePaths, directory: string, files: readonly ProgramFile[]): Promise<void> {
  const temporary = join(paths.versions, `.${randomBytes(9).toString('hex')}.tmp`);
  try {
    await mkdir(temporary, { mode: 0o700 });
    for (const { name, content } of files) {
      const file = await open(join(temporary, name), 'wx', 0o600);
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
    }
    await syncDirectory(temporary);
    await rename(temporary, directory);
    await syncDirectory(paths.versions);
  } catch (error) {
    const isThere = isErrorWithCode(error, 'ENOTEMPTY') || isErrorWithCode(error, 'EEXIST');
    if (!isThere) throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function hasContent(path: string, content: Buffer): Promise<boolean> {
  try {
    return (await readFile(path)).equals(content);
  } catch (error) {
    if (isErrorWithCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** New ones first, then those of earlier installations that still exist: another editor may have written them. */
async function nodeList(source: ProgramSource): Promise<string> {
  const earlier = ((await readTextFile(source.paths.nodes)) ?? '').split('\n').filter((line) => isAbsolute(line));
  const kept: string[] = [];
  for (const path of new Set([...source.nodes, ...earlier])) {
    if (!path.includes('\n') && isAbsolute(path) && (source.nodes.includes(path) || (await exists(path))))
      kept.push(path);
  }
  return kept
    .slice(0, 20)
    .map((path) => `${path}\n`)
    .join('');
}

function safeName(version: string): string {
  const name = version.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '');
  return name === '' ? 'unversioned' : name;
}
