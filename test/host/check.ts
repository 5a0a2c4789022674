import type { ClaudeVersion } from '../harness/claude.ts';
import { blackout } from '../stories/blackout.ts';

export interface CheckOptions {
  /** Where the pictures go; made if it is missing. */
  readonly directory: string;
  readonly claudeVersion: ClaudeVersion;
}

/** Plays the main story in a real VS Code without a screen. Resolves with the exit code. */
export async function runCheck({ directory, claudeVersion }: CheckOptions): Promise<number> {
  const started = performance.now();
  const say = (line: string): void => {
    console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${line}`);
  };
  try {
    await blackout.run(claudeVersion, { say, lastLook: console.log, pictures: directory });
    say(`ok: ${blackout.name}, claude ${claudeVersion}`);
    return 0;
  } catch (error) {
    console.error(error);
    say(`failed: ${blackout.name}, claude ${claudeVersion}`);
    return 1;
  }
}
