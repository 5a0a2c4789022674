import * as z from 'zod/mini';
import { Sequencer } from '../base/async.ts';
import { ensurePrivateDirectory, readJsonFile, writeFileAtomic } from '../node/files.ts';
import type { StatePaths } from '../node/statePaths.ts';
import { nameSchema } from '../protocol/schema.ts';
import type { FleetPort } from './ports.ts';

const optional = z.exactOptional;

const savedContextFileSchema = z.object({
  format: z.literal(1),
  agent: nameSchema,
  /** Milliseconds since the epoch. */
  at: z.number(),
  launchId: z.string(),
  /** The conversation that was current when it was saved. */
  sessionId: optional(z.string()),
  origin: z.enum(['explicit', 'carried']),
  summary: optional(z.string()),
  context: z.string(),
});

/** The context that an agent saved, as its file holds it. */
export type SavedContextFile = z.infer<typeof savedContextFileSchema>;

/** What {@link ContextStore.load} found. */
export type ContextReading =
  | { readonly kind: 'found'; readonly saved: SavedContextFile }
  | { readonly kind: 'none' }
  | { readonly kind: 'damaged'; readonly reason: string };

/** The saved contexts, one file of mode 0600 per agent, the latest save only. */
export class ContextStore {
  private readonly writes = new Sequencer();

  constructor(
    private readonly paths: Pick<StatePaths, 'contexts' | 'context'>,
    private readonly fleet: FleetPort,
  ) {}

  /** Resolves when both the context and the fact that it was saved are on disk; rejects with the system's error. */
  save(saved: Omit<SavedContextFile, 'format'>): Promise<void> {
    return this.writes.run(async () => {
      await ensurePrivateDirectory(this.paths.contexts);
      await writeFileAtomic(this.paths.context(saved.agent), JSON.stringify({ format: 1, ...saved }));
      await this.fleet.reportDurably({
        at: saved.at,
        kind: 'context saved',
        name: saved.agent,
        context: {
          at: saved.at,
          ...(saved.sessionId !== undefined && { sessionId: saved.sessionId }),
          launchId: saved.launchId,
          origin: saved.origin,
          bytes: Buffer.byteLength(saved.context),
        },
      });
    });
  }

  /** Reads the latest save. A damaged file stays where it is. */
  async load(agent: string): Promise<ContextReading> {
    const file = await readJsonFile(this.paths.context(agent), savedContextFileSchema);
    switch (file.kind) {
      case 'ok':
        return { kind: 'found', saved: file.value };
      case 'missing':
        return { kind: 'none' };
      case 'damaged':
        return file;
    }
  }
}
