import { execFile } from 'node:child_process';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { StatePaths } from '../../src/node/statePaths.ts';
import { holderFileSchema } from '../../src/protocol/endpointFile.ts';

const run = promisify(execFile);

/** Pids of the supervising loop, the holder and, while one runs, the gateway. */
export async function gatewayProcesses(
  paths: StatePaths,
): Promise<{ readonly loop: number; readonly holder: number; readonly gateway?: number }> {
  const { pid: holder, child } = holderFileSchema.parse(JSON.parse(await readFile(paths.holder, 'utf8')));
  const { stdout } = await run('ps', ['-o', 'ppid=', '-p', String(holder)]);
  return { loop: Number(stdout), holder, ...(child !== undefined && { gateway: child.pid }) };
}

/**
 * Kills gateway, holder and loop, so that the port is closed. The programs are not where they belong, so that nothing
 * can be started until `open` is called.
 */
export async function closePort(paths: StatePaths): Promise<{ open(): Promise<void> }> {
  const { versions } = paths;
  const pids = Object.values(await gatewayProcesses(paths));
  await rename(versions, `${versions}.aside`);
  await writeFile(versions, '');
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return {
    open: async () => {
      await rm(versions);
      await rename(`${versions}.aside`, versions);
    },
  };
}
