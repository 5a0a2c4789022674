import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { findProcesses } from '../harness/processes.mjs';
import type { FleetWindow } from './fleetWindow.ts';
import { extensionLogs } from './lastLook.ts';

/** The extension host that has the hands: its pid, and the name of its log's directory. Rejects if no window has them. */
export async function actingHost(window: FleetWindow): Promise<{ readonly pid: number; readonly log: string }> {
  for (const file of await extensionLogs(window.fleet)) {
    if (!hasHands(await readFile(file, 'utf8'))) continue;
    const directory = path.dirname(path.dirname(file));
    const own = await readFile(path.join(directory, 'remoteexthost.log'), 'utf8');
    const pid = Number([...own.matchAll(/Extension host with pid (\d+) started/g)].at(-1)?.[1]);
    if (findProcesses(window.fleet.userDataDirectory).some((found) => found.pid === pid)) {
      return { pid, log: path.basename(directory) };
    }
  }
  throw new Error('no window has the hands');
}

/** An extension host that is started anew writes on in the logs of a killed one, which gave nothing back. */
function hasHands(log: string): boolean {
  let [has, lost] = [false, false];
  for (const [words] of log.matchAll(/(lost|joined) the gateway|this window (has the hands|gave the hands back)/g)) {
    if (words === 'joined the gateway' && !lost) has = false;
    lost = words === 'lost the gateway' || (lost && words !== 'joined the gateway');
    if (words.startsWith('this window')) has = words.includes('has');
  }
  return has;
}
