import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disposable } from '../../base/lifecycle.ts';
import { type LiveSession, readLiveSession } from '../../core/claude/liveSession.ts';
import { claudeDirectory } from '../claudeDirectory.ts';

/** Where Claude keeps the live state of its processes, given an agent's environment (measured, both versions). */
export function liveSessionDirectory(environment: Readonly<Record<string, string>>): string | undefined {
  const directory = claudeDirectory(environment);
  return directory === undefined ? undefined : join(directory, 'sessions');
}

/** Reads the file of one process. Only `<pid>.json` is ever opened: files beside it hold tokens. */
export async function readLiveSessionOf(directory: string, pid: number): Promise<LiveSession | undefined> {
  try {
    const parsed: unknown = JSON.parse(await readFile(join(directory, `${pid}.json`), 'utf8'));
    return readLiveSession(parsed);
  } catch {
    // Not written yet, gone, or caught in the middle of a write: the next change tells.
    return undefined;
  }
}

/** Watches directories of live-session files and names the pid of each file that changes. */
export class LiveSessionWatcher implements Disposable {
  private readonly watchers = new Map<string, FSWatcher>();

  constructor(private readonly onChange: (directory: string, pid: number) => void) {}

  /** Watches exactly these directories from now on. One that does not exist yet is tried again at the next call. */
  watchOnly(directories: ReadonlySet<string>): void {
    for (const [directory, watcher] of this.watchers) {
      if (directories.has(directory)) continue;
      watcher.close();
      this.watchers.delete(directory);
    }
    for (const directory of directories) {
      if (!this.watchers.has(directory)) this.open(directory);
    }
  }

  dispose(): void {
    this.watchOnly(new Set());
  }

  private open(directory: string): void {
    try {
      const watcher = watch(directory, { persistent: false }, (_event, file) => {
        const pid = /^(\d+)\.json$/.exec(file ?? '')?.[1];
        if (pid !== undefined) this.onChange(directory, Number(pid));
      });
      watcher.on('error', () => {
        watcher.close();
        this.watchers.delete(directory);
      });
      this.watchers.set(directory, watcher);
    } catch {
      // Claude makes the directory at its first start.
    }
  }
}
