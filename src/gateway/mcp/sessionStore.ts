import { createHash, randomBytes } from 'node:crypto';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { quarantine, readJsonFile, writeFileAtomic } from '../../node/files.ts';
import type { Clock } from '../ports.ts';
import {
  type EndedBecause,
  readSessionItems,
  type SessionRecord,
  sessionFileSchema,
  type Tombstone,
  type UpstreamRecord,
} from './sessionFile.ts';

/** How many tombstones are kept, newest. An id without one is unknown, which is answered in the same way. */
const tombstonesKept = 500;

/** Where the store keeps its file, and what it needs besides. */
export interface SessionStoreOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How the file is replaced; atomically, mode 0600. */
  readonly write?: (path: string, content: string) => Promise<void>;
}

/**
 * The MCP sessions that go on under their ids when the gateway was killed and is back. Changes are in memory at once and
 * on disk when the promise resolves; changes made while a write is under way share the next one.
 */
export class SessionStore {
  private readonly sessions = new Map<string, SessionRecord>();
  private readonly ended = new Map<string, Tombstone>();
  private running: Promise<void> = Promise.resolve();
  private queued: Promise<void> | undefined;

  private constructor(private readonly options: SessionStoreOptions) {}

  /** Reads the file. A damaged one is set aside: its clients get 404 and initialise anew. */
  static async open(options: SessionStoreOptions): Promise<SessionStore> {
    const store = new SessionStore(options);
    const file = await readJsonFile(options.path, sessionFileSchema);
    switch (file.kind) {
      case 'missing':
        break;
      case 'damaged': {
        const movedTo = await quarantine(options.path);
        options.log.warn('MCP session file is damaged, set aside', { reason: file.reason, movedTo });
        break;
      }
      case 'ok': {
        const { sessions, ended, dropped } = readSessionItems(file.value);
        for (const tombstone of ended) store.ended.set(tombstone.digest, tombstone);
        for (const session of sessions) {
          if (!store.ended.has(digestOf(session.id))) store.sessions.set(session.id, session);
        }
        if (dropped > 0) options.log.warn('MCP sessions dropped: wrong shape', { dropped });
        break;
      }
    }
    return store;
  }

  get(id: string): SessionRecord | undefined {
    return this.sessions.get(id);
  }

  all(): readonly SessionRecord[] {
    return [...this.sessions.values()];
  }

  /** Why a session of this id is over; undefined: it lives, was never known, or is long forgotten. */
  endedBecause(id: string): EndedBecause | undefined {
    return this.ended.get(digestOf(id))?.reason;
  }

  /** Opens a session under an id of {@link newSessionId}. Resolves when it is on disk. */
  async add(session: Omit<SessionRecord, 'id'>, id: string = newSessionId()): Promise<SessionRecord> {
    const record = { id, ...session };
    this.sessions.set(record.id, record);
    await this.persist();
    return record;
  }

  /** Replaces what is known of the upstream's side of a session. Unknown ids change nothing. */
  keepUpstream(id: string, upstream: UpstreamRecord): void {
    const record = this.sessions.get(id);
    if (record === undefined) return;
    this.sessions.set(id, { ...record, upstream });
    void this.persist();
  }

  /** Ends sessions for good. Resolves when that is on disk. Unknown ids change nothing. */
  async end(ids: readonly string[], reason: EndedBecause): Promise<void> {
    const known = ids.filter((id) => this.sessions.delete(id));
    if (known.length === 0) return;
    for (const id of known) {
      const digest = digestOf(id);
      this.ended.set(digest, { digest, endedAt: this.options.clock(), reason });
    }
    for (const oldest of [...this.ended.keys()].slice(0, -tombstonesKept)) this.ended.delete(oldest);
    await this.persist();
  }

  /** Resolves when nothing is left to write. */
  async settled(): Promise<void> {
    await (this.queued ?? this.running);
  }

  /** One write for all changes up to its start. A failed one is logged: a session that lives only in memory still works. */
  private persist(): Promise<void> {
    this.queued ??= this.running.then(() => {
      this.queued = undefined;
      this.running = this.write();
      return this.running;
    });
    return this.queued;
  }

  private async write(): Promise<void> {
    const content = { format: 1, sessions: [...this.sessions.values()], ended: [...this.ended.values()] };
    try {
      await (this.options.write ?? writeFileAtomic)(this.options.path, JSON.stringify(content));
    } catch (error) {
      this.options.log.error('MCP sessions could not be written; they will not outlive the gateway', {
        reason: messageOf(error),
      });
    }
  }
}

/** An id that nobody can guess. */
export function newSessionId(): string {
  return randomBytes(32).toString('base64url');
}

/** What stands for a session id where the id itself must not: in the state, on the stream, in logs. */
export function sessionDigest(id: string): string {
  return digestOf(id).slice(0, 8);
}

function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
