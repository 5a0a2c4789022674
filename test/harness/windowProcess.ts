import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type * as z from 'zod/mini';
import { bundlePrograms } from './bundle.ts';
import type { windowArgumentsSchema } from './rigWindow.ts';

/** A window in a process of its own. */
export interface WindowProcess {
  readonly window: string;
  readonly pid: number;
  /** Resolves when the process is gone. */
  readonly ended: Promise<unknown>;
}

/** The bundle of `windowMain.ts` in a private directory. */
export interface WindowProgram {
  start(options: z.infer<typeof windowArgumentsSchema>): WindowProcess;
  dispose(): Promise<void>;
}

/** Bundles the program: windows must start faster than one is killed. */
export async function bundleWindowProgram(): Promise<WindowProgram> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'bowline-window-'));
  await bundlePrograms({ entryPoints: { windowMain: path.join(__dirname, 'windowMain.ts') }, directory });
  return {
    start: (options) => {
      const child = spawn(
        options.node ?? process.execPath,
        [path.join(directory, 'windowMain.js'), JSON.stringify(options)],
        {
          stdio: ['pipe', 'inherit', 'inherit'],
          // It leads a session, as the editor does.
          detached: true,
        },
      );
      const ended = new Promise((resolve) => child.once('exit', resolve));
      return { window: options.window, pid: child.pid ?? 0, ended };
    },
    dispose: () => rm(directory, { recursive: true, force: true }),
  };
}
