import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { ensurePrivateDirectory, exists, readTextFile, writeFileAtomic } from '../files.ts';
import { statePaths } from '../statePaths.ts';

/**
 * Makes the directory of the tmux socket. Where it lies outside of the state directory (whose path is too long), it is
 * marked with that path, and those of state directories that are gone are removed: nobody else would ever do it.
 */
export async function claimSocketDirectory(stateDirectory: string): Promise<void> {
  const { fleetSocketDirectory: directory } = statePaths(stateDirectory);
  await ensurePrivateDirectory(directory);
  if (directory === stateDirectory) return;
  await writeFileAtomic(join(directory, ownerFile), stateDirectory);
  const parent = dirname(directory);
  const prefix = basename(directory).replace(/[^-]*$/, '');
  for (const name of await readdir(parent)) {
    // One that cannot be judged, or cannot be removed, stays.
    if (name.startsWith(prefix)) await removeStale(join(parent, name)).catch(() => undefined);
  }
}

const ownerFile = 'owner';

async function removeStale(directory: string): Promise<void> {
  const status = await lstat(directory);
  if (!status.isDirectory() || status.uid !== process.getuid?.()) return;
  const owner = await readTextFile(join(directory, ownerFile));
  if (owner === undefined || statePaths(owner).fleetSocketDirectory !== directory || (await exists(owner))) return;
  const { fleetSocket } = statePaths(owner);
  // Agents without a state directory are still agents.
  if (await isListenedTo(fleetSocket)) return;
  for (const file of [fleetSocket, join(directory, ownerFile)]) await rm(file, { force: true });
  await rmdir(directory);
}

function isListenedTo(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      resolve(!('code' in error && (error.code === 'ENOENT' || error.code === 'ECONNREFUSED')));
    });
  });
}
