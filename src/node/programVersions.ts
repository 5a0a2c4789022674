import { type Dirent } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { isErrorWithCode, readTextFile } from './files.ts';
import type { StatePaths } from './statePaths.ts';

/** The programs that run outside of the editor and must outlive its updates. */
export const programNames = ['holder.js', 'gateway.js', 'hook.js'] as const;

/** A directory below `versions`: the extension's version and 8 hexadecimal digits of the content's digest. */
const versionDirectory = /^(?!\.)(.+)-[0-9a-f]{8}$/;
/** What an installation leaves behind that was killed. */
const unfinishedDirectory = /^\.[0-9a-f]{18}\.tmp$/;
/** A window may have installed it a moment ago and be about to ask for it. */
const keptFor = 60 * 60 * 1000;

/** Whether `name` can be a directory below `versions`; it is never a path. */
export function isVersionName(name: string): boolean {
  return versionDirectory.test(name) && !name.includes('/') && !name.includes('\\') && !name.includes('\0');
}

/** `1.2.3` of `1.2.3-0123abcd`. */
export function extensionVersionOf(name: string): string {
  return versionDirectory.exec(name)?.[1] ?? name;
}

/**
 * Which of two directories below `versions` holds the newer extension: negative when `left` is older, 0 when the
 * versions are the same, whatever the content. Numbers part by part; a pre-release (`1.2.0-beta`) is older than its release.
 */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [partsOf(extensionVersionOf(left)), partsOf(extensionVersionOf(right))];
  for (let index = 0; index < Math.max(a.numbers.length, b.numbers.length); index++) {
    const difference = (a.numbers[index] ?? 0) - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.label === b.label) return 0;
  if (a.label === '') return 1;
  if (b.label === '') return -1;
  return a.label.localeCompare(b.label, 'en', { numeric: true });
}

/** Whether all programs of a version are there, as files. */
export async function isInstalled(paths: StatePaths, name: string): Promise<boolean> {
  if (!isVersionName(name)) return false;
  try {
    const directory = await lstat(join(paths.versions, name));
    const files = await Promise.all(programNames.map((program) => lstat(join(paths.versions, name, program))));
    return directory.isDirectory() && files.every((file) => file.isFile());
  } catch (error) {
    if (isErrorWithCode(error, 'ENOENT') || isErrorWithCode(error, 'ENOTDIR')) return false;
    throw error;
  }
}

/** The version that launcher and hooks use, if it is whole. */
export async function currentVersion(paths: StatePaths): Promise<string | undefined> {
  const name = (await readTextFile(paths.currentVersion))?.split('\n', 1)[0] ?? '';
  return (await isInstalled(paths, name)) ? name : undefined;
}

/** What {@link removeUnusedVersions} works with. */
export interface UnusedVersions {
  readonly paths: StatePaths;
  /** The version that runs. Newer ones are never removed: the window that brought one may still ask for it. */
  readonly running: string;
  /** Others in use. */
  readonly inUse: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly log: Log;
}

/**
 * Removes the versions that nobody uses any more, and what killed installations left. Kept are the running one, newer
 * ones, what `current` and agents' files name, and what was installed within the last hour. Nothing else below
 * `versions` is touched. Resolves with the names that were removed; what fails is logged.
 */
export async function removeUnusedVersions(options: UnusedVersions): Promise<readonly string[]> {
  const { paths, running, inUse, now, log } = options;
  const removed: string[] = [];
  try {
    const named = await agentFiles(paths);
    const current = (await readTextFile(paths.currentVersion))?.trim();
    const isUnused = (name: string): boolean =>
      unfinishedDirectory.test(name) ||
      (isVersionName(name) &&
        name !== running &&
        name !== current &&
        !inUse.includes(name) &&
        compareVersions(name, running) <= 0 &&
        !named.some((text) => text.includes(`/versions/${name}/`)));
    for (const entry of await readdir(paths.versions, { withFileTypes: true })) {
      if (!entry.isDirectory() || !isUnused(entry.name)) continue;
      if (await removeIfOld(paths, entry, now, log)) removed.push(entry.name);
    }
  } catch (error) {
    log.warn('unused versions cannot be looked for', { reason: messageOf(error) });
  }
  if (removed.length > 0) log.info('removed versions that nobody uses', { removed: removed.join(', ') });
  return removed;
}

async function removeIfOld(paths: StatePaths, { name }: Dirent, now: number, log: Log): Promise<boolean> {
  const path = join(paths.versions, name);
  try {
    if (now - (await lstat(path)).mtimeMs < keptFor) return false;
    await rm(path, { recursive: true });
    return true;
  } catch (error) {
    log.warn('an unused version cannot be removed', { version: name, reason: messageOf(error) });
    return false;
  }
}

/** The texts that agents were started with. */
async function agentFiles(paths: StatePaths): Promise<readonly string[]> {
  const names = await readdir(paths.agents).catch((error: unknown) => {
    if (isErrorWithCode(error, 'ENOENT')) return [];
    throw error;
  });
  const texts = names.flatMap((name) => {
    const { settings, mcpConfig } = paths.agent(name);
    return [readTextFile(settings), readTextFile(mcpConfig)];
  });
  return (await Promise.all(texts)).filter((text) => text !== undefined);
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly label: string } {
  const [, numbers = '0', label = ''] = /^v?(\d+(?:\.\d+)*)(?:-(.*))?/s.exec(version) ?? [];
  return { numbers: numbers.split('.').map(Number), label };
}
