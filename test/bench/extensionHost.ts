import { findProcesses } from '../harness/processes.mjs';
import { waitFor } from '../harness/waitFor.ts';

/** Pid of the extension host of the only window that a VS Code with this user data directory serves. */
export function extensionHostOf(userDataDirectory: string): Promise<number> {
  return waitFor(
    'the extension host',
    () => {
      const hosts = findProcesses(userDataDirectory).filter(({ command }) => command.includes('--type=extensionHost'));
      return hosts.length === 1 && hosts[0]?.pid;
    },
    { timeoutMs: 60_000, everyMs: 200 },
  );
}
