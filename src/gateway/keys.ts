import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import * as z from 'zod/mini';
import type { Log } from '../base/log.ts';
import { agentNamePattern } from '../core/fleet/names.ts';
import { ensurePrivateDirectory, readJsonFile, readTextFile, writeFileAtomic } from '../node/files.ts';
import type { StatePaths } from '../node/statePaths.ts';
import { bearerToken } from './http/checks.ts';
import type { AgentKeys } from './ports.ts';

/** 32 random bytes in base64url. */
const keyPattern = /^[A-Za-z0-9_-]{43}$/;

/** What `LaunchFiles` writes, as far as it is read here. */
const mcpConfigSchema = z.object({ mcpServers: z.record(z.string(), z.unknown()) });
const entrySchema = z.object({ headers: z.object({ 'X-Agent-Name': z.string(), Authorization: z.string() }) });

/** The agents' keys in their files. All are in memory: a key is judged without waiting for the disk. */
export class AgentKeyFiles implements AgentKeys {
  private readonly known = new Map<string, string>();
  /** Names by the digest of the key. */
  private readonly owners = new Map<string, string>();
  private readonly making = new Map<string, Promise<string>>();
  private readonly removing = new Map<string, Promise<void>>();

  private constructor(private readonly paths: StatePaths) {}

  /**
   * Reads the keys of all agents. One that is lost or damaged is taken from the configuration that its process was
   * started with, so that a running agent is not locked out; without that, the agent gets a new one at its next launch.
   */
  static async load(paths: StatePaths, log: Log): Promise<AgentKeyFiles> {
    const keys = new AgentKeyFiles(paths);
    const names = (await readdir(paths.agents)).filter((name) => agentNamePattern.test(name));
    await Promise.all(
      names.map(async (name) => {
        const text = (await readTextFile(paths.agent(name).key))?.trim();
        if (text !== undefined && keyPattern.test(text)) keys.remember(name, text);
        else if (await keys.recover(name))
          log.warn('the key file of an agent was lost; written again', { agent: name });
        else if (text !== undefined) {
          log.warn('the key file of an agent is damaged; it gets a new key at its next launch', { agent: name });
        }
      }),
    );
    return keys;
  }

  async keyOf(name: string): Promise<string> {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const made = this.making.get(name) ?? this.makeAfterRemoval(name);
    this.making.set(name, made);
    try {
      return await made;
    } finally {
      this.making.delete(name);
    }
  }

  ownerOf(key: string): string | undefined {
    // The time of a look-up by digest tells nothing of a key: nobody can choose a digest that begins like another one.
    return this.owners.get(digestOf(key));
  }

  /** Forgets a removed agent: its key is not valid any more, and its files go. */
  async remove(name: string): Promise<void> {
    this.forget(name);
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
    await this.write(name, key);
    return key;
  }

  /** Whether the agent's own configuration (Bowline wrote it, mode 0600) still has its key. */
  private async recover(name: string): Promise<boolean> {
    const file = await readJsonFile(this.paths.agent(name).mcpConfig, mcpConfigSchema);
    if (file.kind !== 'ok') return false;
    for (const entry of Object.values(file.value.mcpServers)) {
      const { success, data } = entrySchema.safeParse(entry);
      const key =
        success && data.headers['X-Agent-Name'] === name ? bearerToken(data.headers.Authorization) : undefined;
      if (key === undefined || !keyPattern.test(key)) continue;
      await this.write(name, key);
      return true;
    }
    return false;
  }

  private async write(name: string, key: string): Promise<void> {
    const files = this.paths.agent(name);
    await ensurePrivateDirectory(files.directory);
    await writeFileAtomic(files.key, `${key}\n`);
    this.remember(name, key);
  }

  private remember(name: string, key: string): void {
    this.forget(name);
    this.known.set(name, key);
    this.owners.set(digestOf(key), name);
  }

  private forget(name: string): void {
    const key = this.known.get(name);
    this.known.delete(name);
    if (key !== undefined) this.owners.delete(digestOf(key));
  }
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}
