import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import type { Log } from '../base/log.ts';
import { agentNamePattern } from '../core/fleet/names.ts';
import { ensurePrivateDirectory, readTextFile, writeFileAtomic } from '../node/files.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { AgentKeys } from './ports.ts';

interface KnownKey {
  readonly key: string;
  readonly digest: Buffer;
}

/** 32 random bytes in base64url. */
const keyPattern = /^[A-Za-z0-9_-]{43}$/;

/** The agents' keys in their files. All are in memory: a key is judged without waiting for the disk. */
export class AgentKeyFiles implements AgentKeys {
  private readonly known = new Map<string, KnownKey>();
  private readonly making = new Map<string, Promise<string>>();
  private readonly removing = new Map<string, Promise<void>>();

  private constructor(private readonly paths: StatePaths) {}

  /** Reads the keys of all agents. A damaged one is left out: its agent gets a new one at its next launch. */
  static async load(paths: StatePaths, log: Log): Promise<AgentKeyFiles> {
    const keys = new AgentKeyFiles(paths);
    const names = (await readdir(paths.agents)).filter((name) => agentNamePattern.test(name));
    await Promise.all(
      names.map(async (name) => {
        const text = (await readTextFile(paths.agent(name).key))?.trim();
        if (text === undefined) return;
        if (keyPattern.test(text)) keys.remember(name, text);
        else log.warn('the key file of an agent is damaged; it gets a new key at its next launch', { agent: name });
      }),
    );
    return keys;
  }

  async keyOf(name: string): Promise<string> {
    const known = this.known.get(name);
    if (known !== undefined) return known.key;
    const made = this.making.get(name) ?? this.makeAfterRemoval(name);
    this.making.set(name, made);
    try {
      return await made;
    } finally {
      this.making.delete(name);
    }
  }

  ownerOf(key: string): string | undefined {
    const digest = digestOf(key);
    let owner: string | undefined;
    // Every key is compared, so that the time tells nothing.
    for (const [name, known] of this.known) if (timingSafeEqual(known.digest, digest)) owner = name;
    return owner;
  }

  /** Forgets a removed agent: its key is not valid any more, and its files go. */
  async remove(name: string): Promise<void> {
    this.known.delete(name);
    const removal = rm(this.paths.agent(name).directory, { recursive: true, force: true });
    this.removing.set(name, removal);
    try {
      await removal;
    } finally {
      this.removing.delete(name);
    }
  }

  /** A new agent may have the name of one whose files are just being removed. */
  private async makeAfterRemoval(name: string): Promise<string> {
    await this.removing.get(name)?.catch(() => undefined); // told by whoever removes
    return this.make(name);
  }

  private async make(name: string): Promise<string> {
    const key = randomBytes(32).toString('base64url');
    const files = this.paths.agent(name);
    await ensurePrivateDirectory(files.directory);
    await writeFileAtomic(files.key, `${key}\n`);
    this.remember(name, key);
    return key;
  }

  private remember(name: string, key: string): void {
    this.known.set(name, { key, digest: digestOf(key) });
  }
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
