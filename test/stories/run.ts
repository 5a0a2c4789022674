// `npm run stories [-- --claude VERSION] [-- WORD]`: plays every story (or those whose name holds WORD) on the real
// claude, its versions at the same time, and prints one line each. With `--pictures DIR` their screenshots are kept.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../src/base/errors.ts';
import { type ClaudeVersion, claudeVersions } from '../harness/claude.ts';
import { blackout } from './blackout.ts';
import type { StoryReport } from './fleetWindow.ts';
import { guard } from './guard.ts';
import { ladder } from './ladder.ts';
import { restore } from './restore.ts';
import { isRow, missingRows } from './rows.ts';
import { threeWindows } from './threeWindows.ts';
import { withoutPty } from './withoutPty.ts';
import type { Story } from './story.ts';
import { update } from './update.ts';
import { upstreams } from './upstreams.ts';
import { waiting } from './waiting.ts';

const stories: readonly Story[] = [
  blackout,
  ladder,
  guard,
  threeWindows,
  withoutPty,
  update,
  restore,
  upstreams,
  waiting,
];

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { claude: { type: 'string' }, pictures: { type: 'string' } },
    allowPositionals: true,
  });
  let passed = 0;
  const failures: string[] = [];
  const shown = new Map(claudeVersions.map((version): [ClaudeVersion, string[]] => [version, []]));
  for (const story of stories.filter(({ name }) => positionals.every((word) => name.includes(word)))) {
    // Beside each other: most of a story is waiting.
    const versions = story.versions.filter((one) => values.claude === undefined || one === values.claude);
    const all = await Promise.all(
      versions.map(async (version) => ({ version, played: await play(story, version, values.pictures) })),
    );
    for (const { version, played } of all) {
      if (played.kind === 'failed') {
        failures.push(`${story.name} ${version}: ${played.reason}`);
      } else {
        passed += 1;
        shown.get(version)?.push(...played.lines);
      }
    }
  }
  // A story that no longer shows what it should fails, too.
  if (failures.length === 0 && positionals.length === 0) failures.push(...missing(shown, values.claude));
  const failed = failures.length;
  const counts = process.env['BOWLINE_TEST_COUNTS'];
  if (counts !== undefined) writeFileSync(counts, JSON.stringify({ passed, failed, pending: 0, failures }));
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** Prints the promises that no story has shown on a version, and returns them. */
function missing(shown: ReadonlyMap<ClaudeVersion, readonly string[]>, only: string | undefined): readonly string[] {
  const lines = [...shown]
    .filter(([version]) => only === undefined || only === version)
    .flatMap(([version, said]) => missingRows(said).map((row) => `not shown on ${version}: ${row}`));
  for (const line of lines) console.log(line);
  return lines;
}

/** What became of a story, and what it said. */
type Played =
  { readonly kind: 'passed'; readonly lines: readonly string[] } | { readonly kind: 'failed'; readonly reason: string };

async function play(story: Story, version: ClaudeVersion, pictures: string | undefined): Promise<Played> {
  const started = performance.now();
  const lines: string[] = [];
  let look = '';
  const report: StoryReport = {
    say: (line) => lines.push(line),
    lastLook: (text) => (look = text),
    ...(pictures !== undefined && {
      pictures: path.join(pictures, `${story.name.replace(/[^a-z0-9]+/gi, '-')}-${version}`),
    }),
  };
  let problem: unknown;
  try {
    await story.run(version, report);
  } catch (error) {
    problem = error;
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${problem === undefined ? 'ok    ' : 'failed'}  ${story.name}  ${version}  ${seconds} s`);
  // What is promised is printed as shown; all else only helps to see where it went wrong.
  for (const line of problem === undefined ? lines.filter(isRow) : lines) console.log(`        ${line}`);
  if (problem === undefined) return { kind: 'passed', lines };
  console.log(problem);
  console.log(look);
  return { kind: 'failed', reason: `${messageOf(problem)} (after "${lines.at(-1) ?? 'nothing'}")` };
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
