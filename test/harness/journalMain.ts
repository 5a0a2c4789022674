// Writes a fleet's state as the gateway does, and kills itself with -9 at one step of one write: node journalMain.js
// DIRECTORY STEP. Each name that is on disk is told on standard output. Ends with 0 when there are fewer steps than that.
import { writeSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import type { FileOperations } from '../../src/gateway/stateJournal.ts';
import { ensureStateDirectories, statePaths } from '../../src/node/statePaths.ts';
import { created, JournaledFleet } from './journaledFleet.ts';

const [directory = '', killAt = ''] = process.argv.slice(2);
let left = Number(killAt);

/** One before each operation that changes a file or a name, and one in the middle of each write. */
function step(): void {
  if (left-- === 0) process.kill(process.pid, 'SIGKILL');
}

function handle(file: promises.FileHandle): promises.FileHandle {
  return new Proxy(file, {
    get: (target, name) => {
      if (name === 'writeFile') {
        return async (data: Buffer): Promise<void> => {
          step();
          const half = data.length >> 1;
          await target.writeFile(data.subarray(0, half));
          step();
          await target.writeFile(data.subarray(half));
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => Reflect.apply(value, target, given);
    },
  });
}

const files: FileOperations = {
  open: async (path, flags, mode) => {
    if (flags !== 'r') step();
    return handle(await promises.open(path, flags, mode));
  },
  link: (...given) => {
    step();
    return promises.link(...given);
  },
  copyFile: promises.copyFile,
  rename: (...given) => {
    step();
    return promises.rename(...given);
  },
  rm: (...given) => {
    step();
    return promises.rm(...given);
  },
};

async function main(): Promise<void> {
  const paths = statePaths(directory);
  await ensureStateDirectories(paths);
  // So small that the second record of each journal is followed by a snapshot.
  const fleet = await JournaledFleet.open(paths, { files, compactAt: 250 });
  const taken = Object.keys(fleet.state.agents).length;
  for (let number = taken; number < taken + 3; number += 1) {
    const names = [`a${number}`, `b${number}`];
    await fleet.commit(...names.map((name) => created(name)));
    for (const name of names) writeSync(1, `${name}\n`);
  }
  await fleet.journal.seal();
}

void main();
