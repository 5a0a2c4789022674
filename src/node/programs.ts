import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import {
  ensurePrivateDirectory,
  exists,
  isErrorWithCode,
  readTextFile,
  syncDirectory,
  writeFileAtomic,
} from './files.ts';
import { launcherScript } from './launcherScript.ts';
import type { StatePaths } from './statePaths.ts';

/** The programs that run outside of the editor and must outlive its updates. */
const programNames = ['holder.js', 'gateway.js', 'hook.js'] as const;

/** What {@link installPrograms} copies, and what for. */
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
 * Copies the programs to `versions/<version>-<first 8 digits of the content's SHA-256>`, points `versions/current` at
 * them and writes the launcher. Safe to call from several windows at once and again at any time: an installed version
 * is only mended. Other versions stay, running agents may need them.
 * Resolves with the directory of the programs. Rejects with the file system's error (ENOENT of dist, ENOSPC, ENOTDIR ...).
 */
export async function installPrograms(source: ProgramSource): Promise<string> {
  const { paths } = source;
  const files = await Promise.all(
    programNames.map(async (name) => ({ name, content: await readFile(join(source.distDirectory, name)) })),
  );
  const hash = createHash('sha256');
  for (const { name, content } of files) hash.update(`${name}\n${content.byteLength}\n`).update(content);
  const directoryName = `${safeName(source.version)}-${hash.digest('hex').slice(0, 8)}`;
  const directory = join(paths.versions, directoryName);

  await ensurePrivateDirectory(paths.directory);
  await ensurePrivateDirectory(paths.versions);
  if (!(await exists(directory))) await copyAsOne(paths, directory, files);
  for (const { name, content } of files) {
    const path = join(directory, name);
    if (!(await hasContent(path, content))) await writeFileAtomic(path, content);
  }
  await writeFileAtomic(paths.nodes, await nodeList(source));
  await writeFileAtomic(paths.currentVersion, `${directoryName}\n`);
  await writeFileAtomic(paths.launcher, launcherScript, { mode: 0o700 });
  return directory;
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
