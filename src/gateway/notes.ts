import * as z from 'zod/mini';
import type { StatePaths } from '../node/statePaths.ts';
import { nameSchema } from '../protocol/schema.ts';
import { ItemFiles, type ItemFilesOptions } from './itemFiles.ts';

const noteSchema = z.object({
  id: z.string(),
  /** Who wrote it. */
  by: nameSchema,
  /** Milliseconds since the epoch. */
  at: z.number(),
  tags: z.array(z.string()),
  text: z.string(),
});

export type Note = z.infer<typeof noteSchema>;

/** `agent`: seen by its writer alone. `shared`: by all agents. */
export type Scope = 'agent' | 'shared';

/** What one agent may have in notes of its own, and all together in shared ones. Bytes of UTF-8, texts alone. */
export const placeLimits = { notes: 1_000, bytes: 2_000_000 } as const;

/** What became of a note. `known`: this very text is there already, under that id. */
export type Keeping =
  | { readonly kind: 'kept' }
  | { readonly kind: 'known'; readonly id: string }
  | { readonly kind: 'full'; readonly notes: number; readonly bytes: number };

export type NotesOptions = Omit<ItemFilesOptions<Note>, 'item' | 'words'> & {
  readonly paths: Pick<StatePaths, 'agent' | 'sharedNotes'>;
};

/** The notes of the agents, oldest first. */
export class Notes {
  private readonly files: ItemFiles<Note>;

  constructor(private readonly options: NotesOptions) {
    this.files = new ItemFiles({ ...options, item: noteSchema, words: 'notes of agents' });
  }

  /** Resolves when it is on disk. Rejects with the system's error, and then it is not kept. */
  keep(scope: Scope, note: Note): Promise<Keeping> {
    return this.files.change<Keeping>(this.path(note.by, scope), (items) => {
      const known = items.find(({ text }) => text === note.text);
      if (known !== undefined) return { items, result: { kind: 'known', id: known.id } };
      const bytes = items.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      if (items.length >= placeLimits.notes || bytes + Buffer.byteLength(note.text) > placeLimits.bytes) {
        return { items, result: { kind: 'full', notes: items.length, bytes } };
      }
      return { items: [...items, note], result: { kind: 'kept' } };
    });
  }

  seenBy(agent: string, scope: Scope): Promise<readonly Note[]> {
    return this.files.read(this.path(agent, scope));
  }

  /** Takes a note out that this agent sees. Resolves, when that is on disk, with it; undefined: there is none of that id. */
  async forget(agent: string, id: string): Promise<Note | undefined> {
    for (const scope of ['agent', 'shared'] as const) {
      const note = await this.files.change(this.path(agent, scope), (items) => {
        const result = items.find((item) => item.id === id);
        return { items: result === undefined ? items : items.filter((item) => item !== result), result };
      });
      if (note !== undefined) return note;
    }
    return undefined;
  }

  private path(agent: string, scope: Scope): string {
    return scope === 'shared' ? this.options.paths.sharedNotes : this.options.paths.agent(agent).notes;
  }
}
