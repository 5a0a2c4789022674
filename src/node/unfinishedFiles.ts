import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { isErrorWithCode } from './files.ts';
import type { StatePaths } from './statePaths.ts';

/** Milliseconds: nobody writes a file for so long. */
const keptFor = 60 * 60 * 1000;

/** Removes what writers left behind in the state directory that were killed before they renamed it. Never rejects. */
export async function removeUnfinishedFiles(paths: StatePaths, now: number, log: Log): Promise<void> {
  try {
    const agents = (await namesIn(paths.agents)).map((name) => paths.agent(name));
    const ofAgents = agents.flatMap(({ directory, prompts }) => [directory, prompts]);
    let removed = 0;
    for (const directory of [paths.directory, paths.contexts, paths.spool, ...ofAgents]) {
      for (const name of await namesIn(directory)) {
        if (name.endsWith('.tmp') && (await removeIfOld(join(directory, name), now))) removed += 1;
      }
    }
    if (removed > 0) log.info('removed files that nobody finished writing', { removed });
  } catch (error) {
    log.warn('unfinished files cannot be removed', { reason: messageOf(error) });
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isErrorWithCode(error, 'ENOENT') || isErrorWithCode(error, 'ENOTDIR')) return [];
    throw error;
  }
}

async function removeIfOld(path: string, now: number): Promise<boolean> {
  const status = await lstat(path).catch(() => undefined); // renamed meanwhile
  if (status?.isFile() !== true || now - status.mtimeMs < keptFor) return false;
  await rm(path, { force: true });
  return true;
}
