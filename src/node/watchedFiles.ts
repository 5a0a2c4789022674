import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { Emitter, type Event } from '../base/events.ts';
import { DisposableObject, toDisposable } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { isErrorWithCode } from './files.ts';

/** From the first sign of a change to its telling, in milliseconds: a file that is replaced is gone for a moment. */
const settleMs = 300;

/** A directory that is watched, with the files that an entry of it is a sign of. */
interface Watched {
  readonly watcher: FSWatcher;
  readonly files: Map<string, Set<string>>;
}

/**
 * Tells when files are written, replaced, made or removed. Their directories are watched, because a watch of a file ends
 * with the file that an editor replaces; where a directory is not there, the one above it is. What cannot be watched is
 * not told: whoever must know looks at times. Keeps no process alive.
 */
export class WatchedFiles extends DisposableObject {
  /** Paths of files that may be other ones by now. */
  readonly onDidChange: Event<readonly string[]>;
  private readonly changes: Emitter<readonly string[]>;
  private readonly directories = new Map<string, Watched>();
  private readonly touched = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly log: Log) {
    super();
    this.changes = this._register(
      new Emitter<readonly string[]>((error) => {
        log.error('a change of a file was not taken up', { reason: messageOf(error) });
      }),
    );
    this.onDidChange = this.changes.event;
    this._register(
      toDisposable(() => {
        clearTimeout(this.timer);
        for (const directory of [...this.directories.keys()]) this.unwatch(directory);
      }),
    );
  }

  /** Watches these files (absolute paths), and no others any more. To be called again after a change. */
  watch(files: readonly string[]): void {
    const wanted = new Map<string, Map<string, Set<string>>>();
    const want = (directory: string, entry: string, file: string): void => {
      const entries = wanted.get(directory) ?? new Map<string, Set<string>>();
      wanted.set(directory, entries.set(entry, (entries.get(entry) ?? new Set()).add(file)));
    };
    for (const file of new Set(files)) want(dirname(file), basename(file), file);
    for (const [directory, entries] of [...wanted]) {
      if (this.open(directory)) continue;
      wanted.delete(directory);
      const above = dirname(directory);
      for (const file of [...entries.values()].flatMap((one) => [...one])) want(above, basename(directory), file);
      if (!this.open(above)) wanted.delete(above);
    }
    for (const [directory, { files: signs }] of [...this.directories]) {
      signs.clear();
      const entries = wanted.get(directory);
      if (entries === undefined) this.unwatch(directory);
      else for (const [entry, ofEntry] of entries) signs.set(entry, ofEntry);
    }
  }

  /** Whether the directory is watched from now on. */
  private open(directory: string): boolean {
    if (this.directories.has(directory)) return true;
    try {
      const watcher = watch(directory, { persistent: false }, (_event, entry) => {
        this.changed(directory, entry);
      });
      watcher.on('error', () => {
        this.gone(directory);
      });
      this.directories.set(directory, { watcher, files: new Map() });
      return true;
    } catch (error) {
      const isThere = !isErrorWithCode(error, 'ENOENT') && !isErrorWithCode(error, 'ENOTDIR');
      if (isThere) this.log.debug('a directory cannot be watched', { directory, reason: messageOf(error) });
      return false;
    }
  }

  private changed(directory: string, entry: string | null): void {
    // How the end of the directory itself is told.
    if (entry === null || entry === basename(directory)) this.gone(directory);
    else this.touch(this.directories.get(directory)?.files.get(entry));
  }

  private gone(directory: string): void {
    for (const files of this.directories.get(directory)?.files.values() ?? []) this.touch(files);
    this.unwatch(directory);
  }

  private unwatch(directory: string): void {
    this.directories.get(directory)?.watcher.close();
    this.directories.delete(directory);
  }

  private touch(files: ReadonlySet<string> | undefined): void {
    if (files === undefined) return;
    for (const file of files) this.touched.add(file);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const touched = [...this.touched];
      this.touched.clear();
      this.changes.fire(touched);
    }, settleMs).unref();
  }
}
