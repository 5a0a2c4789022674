import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readJsonFile, writeFileAtomic } from '../node/files.ts';
import { holderEnvironment, liveHolder } from '../node/gatewayLauncher.ts';
import { isSameProcess, processIdentity } from '../node/processIdentity.ts';
import type { StatePaths } from '../node/statePaths.ts';

const launcherSchema = z.object({ pid: z.int().check(z.positive()), startTime: z.string() });

/**
 * Starts the holder where none runs: agents must not stay without their tools because no window is open. The launcher's
 * loop goes on until a holder stays, so one loop of hooks is enough: its process is remembered in the spool.
 */
export async function startHolderIfGone(paths: StatePaths): Promise<'started' | 'there'> {
  if ((await liveHolder(paths)) !== undefined) return 'there';
  const remembered = join(paths.spool, 'launcher.json');
  const former = await readJsonFile(remembered, launcherSchema);
  if (former.kind === 'ok' && (await isSameProcess(former.value)) !== 'gone') return 'there';
  mkdirSync(paths.logs, { recursive: true, mode: 0o700 });
  const output = openSync(paths.holderOutput, 'a', 0o600);
  try {
    const child = spawn(paths.launcher, ['holder'], {
      cwd: paths.directory,
      detached: true,
      stdio: ['ignore', output, output],
      env: holderEnvironment(process.env, paths),
    });
    child.on('error', () => undefined); // the launcher is gone: the state directory is no more
    child.unref();
    const identity = child.pid === undefined ? undefined : await processIdentity(child.pid);
    if (identity !== undefined) await writeFileAtomic(remembered, JSON.stringify(identity));
  } finally {
    closeSync(output);
  }
  return 'started';
}
