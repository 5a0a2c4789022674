import type { ClaudeVersion } from '../harness/claude.ts';
import type { StoryReport } from './fleetWindow.ts';

/** One thing that a person lives through with Bowline, on the real claude. Rejects where it goes wrong. */
export interface Story {
  readonly name: string;
  readonly versions: readonly ClaudeVersion[];
  run(version: ClaudeVersion, report: StoryReport): Promise<void>;
}
