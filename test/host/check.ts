import path from 'node:path';
import type { ClaudeVersion } from '../harness/claude.ts';
import { blackout } from '../stories/blackout.ts';
import { guard } from '../stories/guard.ts';
import { ladder } from '../stories/ladder.ts';

export interface CheckOptions {
  /** Where the pictures go; made if it is missing. */
  readonly directory: string;
  readonly claudeVersion: ClaudeVersion;
}

/** What is played, and where below the directory its pictures go. */
const stories = [
  { story: blackout, place: '.' },
  { story: ladder, place: 'ladder' },
  { story: guard, place: 'guard' },
] as const;

/** Plays the main stories in a real VS Code without a screen, up to the first that fails. Resolves with the exit code. */
export async function runCheck({ directory, claudeVersion }: CheckOptions): Promise<number> {
  const started = performance.now();
  const say = (line: string): void => {
    console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${line}`);
  };
  for (const { story, place } of stories) {
    try {
      await story.run(claudeVersion, { say, lastLook: console.log, pictures: path.join(directory, place) });
      say(`ok: ${story.name}, claude ${claudeVersion}`);
    } catch (error) {
      console.error(error);
      say(`failed: ${story.name}, claude ${claudeVersion}`);
      return 1;
    }
  }
  return 0;
}
