import type { Memory } from '../../../src/extension/memory.ts';

/** A fake of what VS Code keeps for an extension. */
export class FakeMemory implements Memory {
  private readonly kept = new Map<string, unknown>();

  get(key: string): unknown {
    return this.kept.get(key);
  }

  update(key: string, value: unknown): Promise<void> {
    this.kept.set(key, value);
    return Promise.resolve();
  }
}
