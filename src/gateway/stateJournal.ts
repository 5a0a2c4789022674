import * as promises from 'node:fs/promises';
import { dirname } from 'node:path';
import { BowlineError, messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { FleetState } from '../core/fleet/state.ts';
import { isErrorWithCode } from '../node/files.ts';
import {
  journalHeader,
  journalLine,
  listJournals,
  type NumberedEvent,
  type NumberedState,
  snapshotParts,
} from '../node/stateFiles.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { LoadedState } from './stateStore.ts';

/** What a {@link StateJournal} does with files; `node:fs/promises` does it. */
export type FileOperations = Pick<typeof promises, 'open' | 'link' | 'copyFile' | 'rename' | 'rm'>;

/** What a {@link StateJournal} works with. */
export interface StateJournalOptions {
  readonly paths: StatePaths;
  readonly log: Log;
  readonly loaded: LoadedState;
  /** Size of the journals, in bytes, at which a snapshot takes their place (256 KB: what a start reads in no time). */
  readonly compactAt?: number;
  readonly files?: FileOperations;
}

/** The journal that is written now. */
interface OpenJournal {
  readonly file: promises.FileHandle;
  /** Its name is on disk only after the first record. */
  named: boolean;
}

const partLength = 64 * 1024;

/**
 * Brings the state of the fleet to disk: each event is a line in a journal, and now and then a snapshot takes the place of
 * the journals. On disk are the snapshot, the one before it, and all journals since that one; so a start that finds the
 * snapshot damaged loses nothing. This process is the only one that writes there until it is sealed.
 *
 * A run never goes on in a journal of another run, whose end may be torn: it begins its own.
 */
export class StateJournal {
  private readonly files: FileOperations;
  private readonly compactAt: number;
  private present: NumberedState;
  private pending: NumberedEvent[] = [];
  private journal: OpenJournal | undefined;
  /** Whether what is on disk and `pending` make up the present state. If not, only a snapshot brings it there. */
  private chain: 'whole' | 'broken';
  private snapshotSequence: number;
  private bytes: number;
  private compactAbove: number;
  private running: Promise<unknown> = Promise.resolve();
  private compaction: Promise<void> | undefined;
  private sealed = false;

  private constructor(private readonly options: StateJournalOptions) {
    const { state, sequence, base, notices } = options.loaded;
    this.files = options.files ?? promises;
    this.compactAt = options.compactAt ?? 256 * 1024;
    this.present = { state, sequence };
    this.chain = base.kind === 'whole' ? 'whole' : 'broken';
    this.snapshotSequence = base.sequence;
    this.bytes = base.journalBytes;
    // What was wrong is told once: the first write leaves it behind.
    this.compactAbove = notices.length > 0 ? -1 : this.compactAt;
  }

  /** Goes on from what was loaded. Never rejects: what cannot be written now is tried again at each commit. */
  static async open(options: StateJournalOptions): Promise<StateJournal> {
    const journal = new StateJournal(options);
    // Here, so that the journal begins right behind the snapshot: the former one and the journal then are a whole, too.
    if (journal.chain === 'broken') {
      await journal.commit().catch((error: unknown) => {
        options.log.error('the state cannot be written', { reason: messageOf(error) });
      });
    }
    return journal;
  }

  /** Takes an event and the state with it, in memory. */
  add(event: NumberedEvent, state: FleetState): void {
    this.pending.push(event);
    this.present = { state, sequence: event.sequence };
  }

  /**
   * Resolves when all that was added before is on disk: with one fsync, but for the first record of a journal. One call at
   * a time. Rejects with `state-not-written` when the disk refuses; what is on disk stays as it is, and the next call that
   * succeeds brings everything there.
   */
  commit(): Promise<void> {
    if (this.sealed) return Promise.reject(new Error('another process writes the state now'));
    const result = this.write();
    this.running = result.catch(() => undefined);
    return result;
  }

  /**
   * Puts everything in a snapshot, for a successor that may be of another version, and writes nothing any more. Rejects
   * when the state is not on disk.
   */
  async seal(): Promise<void> {
    this.sealed = true;
    await this.running;
    await this.compaction;
    try {
      if (this.chain === 'broken' || this.snapshotSequence < this.present.sequence) {
        await this.writeSnapshot(this.present);
      }
    } catch (error) {
      if (this.chain === 'broken' || this.pending.length > 0) throw error;
      this.options.log.warn('the journal is left to the successor', { reason: messageOf(error) });
    } finally {
      await this.closeJournal();
    }
  }

  private async write(): Promise<void> {
    const { present, pending, chain } = this;
    this.pending = [];
    try {
      if (chain === 'broken') await this.begin(present);
      else if (pending.length > 0) await this.append(pending);
    } catch (error) {
      // After a failed write or fsync nobody knows what of the journal is on disk, so it is not gone on with.
      this.chain = 'broken';
      this.pending = [];
      await this.closeJournal();
      const { directory } = this.options.paths;
      throw new BowlineError(
        'state-not-written',
        `Bowline cannot write its state in ${directory} (${messageOf(error)}). The fleet goes on in memory, and what is ` +
          'on disk is kept. Make room there, or make it writable: then everything is written by itself.',
        { cause: error },
      );
    }
    if (this.bytes > this.compactAbove && this.compaction === undefined) await this.compact(present);
  }

  private async begin(present: NumberedState): Promise<void> {
    await this.compaction;
    await this.writeSnapshot(present);
    this.chain = 'whole';
    this.bytes = 0;
    this.compactAbove = this.compactAt;
  }

  private async append(events: readonly NumberedEvent[]): Promise<void> {
    const journal = this.journal ?? (await this.openJournal(events));
    this.bytes += await writeParts(journal.file, events.map(journalLine));
    await journal.file.datasync();
    if (journal.named) return;
    await this.syncDirectory();
    journal.named = true;
  }

  /** A journal of that name can only be one without a whole record: a run that was killed when it had just begun it. */
  private async openJournal([first]: readonly NumberedEvent[]): Promise<OpenJournal> {
    const after = (first?.sequence ?? 1) - 1;
    const file = await this.files.open(this.options.paths.journal(after), 'w', 0o600);
    this.journal = { file, named: false };
    await file.chmod(0o600);
    this.bytes += await writeParts(file, [journalHeader]);
    return this.journal;
  }

  private async closeJournal(): Promise<void> {
    const { journal } = this;
    this.journal = undefined;
    await journal?.file.close().catch((error: unknown) => {
      this.options.log.warn('a journal cannot be closed', { reason: messageOf(error) });
    });
  }

  /** Begins a new journal, and writes the snapshot before it while that one is in use: nobody waits for it. */
  private async compact(present: NumberedState): Promise<void> {
    await this.closeJournal();
    const { bytes } = this;
    const done = this.writeSnapshot(present).then(
      () => {
        this.bytes -= bytes;
        this.compactAbove = this.compactAt;
      },
      (error: unknown) => {
        this.compactAbove = this.bytes + this.compactAt;
        this.options.log.error('the journal cannot be compacted; it goes on', { reason: messageOf(error) });
      },
    );
    this.compaction = done.finally(() => {
      this.compaction = undefined;
    });
  }

  private async writeSnapshot(present: NumberedState): Promise<void> {
    const { files } = this;
    const { state: path } = this.options.paths;
    const temporary = `${path}.tmp`;
    try {
      const file = await files.open(temporary, 'w', 0o600);
      try {
        await file.chmod(0o600);
        await writeParts(file, snapshotParts(present));
        await file.sync();
      } finally {
        await file.close();
      }
      await this.keepPrevious();
      await files.rename(temporary, path);
    } catch (error) {
      await files.rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    }
    await this.syncDirectory();
    await this.removeJournals(this.snapshotSequence);
    this.snapshotSequence = present.sequence;
  }

  private async keepPrevious(): Promise<void> {
    const { files } = this;
    const { state, previousState } = this.options.paths;
    const temporary = `${previousState}.tmp`;
    await files.rm(temporary, { force: true });
    try {
      await files.link(state, temporary);
    } catch (error) {
      if (isErrorWithCode(error, 'ENOENT')) return;
      await files.copyFile(state, temporary); // a file system without hard links
    }
    await files.rename(temporary, previousState);
  }

  /** Removes the journals that end where the snapshot before the present one begins. */
  private async removeJournals(before: number): Promise<void> {
    try {
      const old = (await listJournals(this.options.paths)).filter(({ after }) => after < before);
      for (const { path } of old) await this.files.rm(path, { force: true });
    } catch (error) {
      this.options.log.warn('old journals cannot be removed', { reason: messageOf(error) });
    }
  }

  private async syncDirectory(): Promise<void> {
    const directory = await this.files.open(dirname(this.options.paths.state), 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}

/** Writes texts one after the other, some 64 KB at a time; resolves with the number of bytes. */
async function writeParts(file: promises.FileHandle, texts: Iterable<string>): Promise<number> {
  let bytes = 0;
  let part = '';
  const write = async (): Promise<void> => {
    const data = Buffer.from(part);
    part = '';
    bytes += data.length;
    await file.writeFile(data);
  };
  for (const text of texts) {
    part += text;
    if (part.length >= partLength) await write();
  }
  if (part !== '') await write();
  return bytes;
}
