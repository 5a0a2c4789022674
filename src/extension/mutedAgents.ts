import * as z from 'zod/mini';
import type { Memory } from './memory.ts';

const key = 'mutedAgents';
const namesSchema = z.catch(z.array(z.string()), []);

/** The agents of which a person wants no notifications. They still stand in the views and the status bar. */
export class MutedAgents {
  constructor(private readonly memory: Memory) {}

  get names(): readonly string[] {
    return namesSchema.parse(this.memory.get(key));
  }

  has(name: string): boolean {
    return this.names.includes(name);
  }

  async mute(name: string): Promise<void> {
    await this.set([...this.names, name]);
  }

  async set(names: readonly string[]): Promise<void> {
    await this.memory.update(key, [...new Set(names)]);
  }
}
