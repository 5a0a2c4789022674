import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { Sequencer } from '../base/async.ts';
import { BowlineError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { ensurePrivateDirectory, quarantine, readJsonFile, writeFileAtomic } from '../node/files.ts';
import type { Clock, FleetPort } from './ports.ts';

const format = 1;

/** What {@link ItemFiles} works with. */
export interface ItemFilesOptions<Item> {
  readonly item: z.ZodMiniType<Item>;
  /** What the items are, in the plural, for a person. */
  readonly words: string;
  readonly fleet: FleetPort;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a change makes of the items of a file. The same items: nothing is written. */
export interface Changed<Item, Result> {
  readonly items: readonly Item[];
  readonly result: Result;
}

/**
 * Lists of items, each in a file of mode 0600 of its own: `{"format": 1, "items": [...]}`. What was promised is on disk:
 * a file is replaced as a whole, one change after another, by this process alone. A damaged file is put aside, which is
 * told, and the list begins anew; one of a newer Bowline is refused and stays as it is.
 */
export class ItemFiles<Item> {
  private readonly turns = new Sequencer();
  /** Of a whole file; made on first use, because a gateway starts in milliseconds. */
  private schema: z.ZodMiniType<{ items: Item[] }> | undefined;

  constructor(private readonly options: ItemFilesOptions<Item>) {}

  /** Rejects with the system's error, or `state-unreadable`. */
  read(path: string): Promise<readonly Item[]> {
    return this.turns.run(() => this.items(path));
  }

  /** Resolves when the change is on disk. Rejects as {@link read} does, and then nothing has changed. */
  change<Result>(path: string, change: (items: readonly Item[]) => Changed<Item, Result>): Promise<Result> {
    return this.turns.run(async () => {
      const former = await this.items(path);
      const { items, result } = change(former);
      if (items === former) return result;
      await ensurePrivateDirectory(dirname(path));
      await writeFileAtomic(path, JSON.stringify({ format, items }));
      return result;
    });
  }

  remove(path: string): Promise<void> {
    return this.turns.run(() => rm(path, { force: true }));
  }

  private async items(path: string): Promise<readonly Item[]> {
    this.schema ??= z.object({ format: z.literal(format), items: z.array(this.options.item) });
    const file = await readJsonFile(path, this.schema, (value) => {
      refuseNewer(path, value);
    });
    switch (file.kind) {
      case 'ok':
        return file.value.items;
      case 'missing':
        return [];
      case 'damaged':
        await this.putAside(path, file.reason);
        return [];
    }
  }

  private async putAside(path: string, reason: string): Promise<void> {
    const { words, fleet, clock, log } = this.options;
    const aside = await quarantine(path);
    log.error('a damaged file was put aside', { path, aside, reason });
    const at = clock();
    const sentence = `The ${words} in ${path} cannot be read (${reason}). They were put aside as ${aside}, and a new list begins; what is in that file can be looked at by hand.`;
    fleet.report({ at, kind: 'noticed', notice: { at, code: 'items-damaged', sentence, severity: 'error' } });
  }
}

const formatSchema = z.object({ format: z.number() });

function refuseNewer(path: string, value: unknown): void {
  const read = formatSchema.safeParse(value);
  if (!read.success || read.data.format <= format) return;
  throw new BowlineError(
    'state-unreadable',
    `${path} was written by a newer Bowline (format ${read.data.format}, this one knows ${format}). ` +
      'Update Bowline; nothing was changed.',
  );
}
