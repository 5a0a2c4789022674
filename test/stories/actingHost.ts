import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { findProcesses } from '../harness/processes.mjs';
import type { FleetWindow } from './fleetWindow.ts';
import { extensionLogs } from './lastLook.ts';

/** The extension host that has the hands: its pid, and the name of its log's directory. Rejects if no window has them. */
export async function actingHost(window: FleetWindow): Promise<{ readonly pid: number; readonly log: string }> {
  for (const file of await extensionLogs(window.fleet)) {
    const lent = (await readFile(file, 'utf8')).match(/this window (has the hands|gave the hands back)/g)?.at(-1);
    if (!lent?.includes('has')) continue;
    const directory = path.dirname(path.dirname(file));
    const own = await readFile(path.join(directory, 'remoteexthost.log'), 'utf8');
    const pid = Number(/Extension host with pid (\d+) started/.exec(own)?.[1]);
    if (findProcesses(window.fleet.userDataDirectory).some((found) => found.pid === pid)) {
      return { pid, log: path.basename(directory) };
    }
  }
  throw new Error('no window has the hands');
}
