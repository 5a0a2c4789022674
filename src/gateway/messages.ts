import * as z from 'zod/mini';
import type { StatePaths } from '../node/statePaths.ts';
import { nameSchema } from '../protocol/schema.ts';
import { ItemFiles, type ItemFilesOptions } from './itemFiles.ts';

const messageSchema = z.object({
  id: z.string(),
  from: nameSchema,
  /** Milliseconds since the epoch. */
  at: z.number(),
  text: z.string(),
});

/** A message that waits for its receiver to acknowledge it. */
export type Message = z.infer<typeof messageSchema>;

/** Unread messages that one agent may have. */
export const inboxLimit = 100;

/** What became of a message. */
export type Delivery = 'delivered' | 'inbox full' | 'no such agent';

export type MessagesOptions = Omit<ItemFilesOptions<Message>, 'item' | 'words'> & {
  readonly paths: Pick<StatePaths, 'agent'>;
};

/** The inboxes of the agents, in the order of arrival. A message stays in one until it is acknowledged. */
export class Messages {
  private readonly files: ItemFiles<Message>;

  constructor(private readonly options: MessagesOptions) {
    this.files = new ItemFiles({ ...options, item: messageSchema, words: 'messages of an agent' });
  }

  /** Resolves when it is on disk. Rejects with the system's error, and then it is not delivered. */
  async deliver(receiver: string, message: Message): Promise<Delivery> {
    const { inbox } = this.options.paths.agent(receiver);
    const delivery = await this.files.change<Delivery>(inbox, (items) => {
      if (!this.exists(receiver)) return { items, result: 'no such agent' };
      if (items.length >= inboxLimit) return { items, result: 'inbox full' };
      return { items: [...items, message], result: 'delivered' };
    });
    if (delivery !== 'delivered' || this.exists(receiver)) return delivery;
    // Removed meanwhile: a later agent of that name gets nothing of it.
    await this.files.remove(inbox);
    return 'no such agent';
  }

  unread(agent: string): Promise<readonly Message[]> {
    return this.files.read(this.options.paths.agent(agent).inbox);
  }

  /** Takes messages out. Resolves, when that is on disk, with the ids that were there, and how many messages are left. */
  acknowledge(
    agent: string,
    ids: readonly string[],
  ): Promise<{ readonly found: readonly string[]; readonly left: number }> {
    return this.files.change(this.options.paths.agent(agent).inbox, (items) => {
      const found = items.filter(({ id }) => ids.includes(id)).map(({ id }) => id);
      const left = found.length === 0 ? items : items.filter(({ id }) => !ids.includes(id));
      return { items: left, result: { found, left: left.length } };
    });
  }

  private exists(agent: string): boolean {
    return Object.hasOwn(this.options.fleet.state.agents, agent);
  }
}
