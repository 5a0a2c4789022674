import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { endProcesses } from './processes.mjs';

/**
 * Does the work of a command in a temporary directory of its own, which all that it starts has in its environment, so that
 * it is found and ended however the run ends. Resolves with the exit code; 130 when the run was interrupted.
 */
export async function privateRun(name: string, work: (directory: string) => Promise<number>): Promise<number> {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), `bowline-${name}-`)));
  process.env['TMPDIR'] = directory;
  try {
    return await Promise.race([work(directory), interrupted()]);
  } finally {
    await endProcesses(directory);
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

function interrupted(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        resolve(130);
      });
    }
  });
}
