import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The versions of Claude Code that fixtures were captured from, see test/harness/captureFixturesMain.ts. */
export const versions = ['2.1.160', '2.1.332'] as const;

export function fixture(...names: readonly string[]): string {
  return readFileSync(fixturePath(...names), 'utf8');
}

/** The names in a folder of fixtures, without their extension. */
export function fixtureNames(...names: readonly string[]): readonly string[] {
  return readdirSync(fixturePath(...names)).map((name) => path.parse(name).name);
}

function fixturePath(...names: readonly string[]): string {
  return path.join(__dirname, '../../../fixtures/claude', ...names);
}
