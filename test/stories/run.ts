// `npm run stories [-- --claude VERSION] [-- WORD]`: plays every story (or those whose name holds WORD) on the real
// claude and prints one line each. With `--pictures DIR` their screenshots are kept.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { ClaudeVersion } from '../harness/claude.ts';
import { blackout } from './blackout.ts';
import type { StoryReport } from './fleetWindow.ts';
import { guard } from './guard.ts';
import { ladder } from './ladder.ts';
import { noWindow } from './noWindow.ts';
import { reopen } from './reopen.ts';
import { restarts } from './restarts.ts';
import { twoWindows } from './twoWindows.ts';
import { withoutPty } from './withoutPty.ts';
import type { Story } from './story.ts';
import { update } from './update.ts';

const stories: readonly Story[] = [reopen, restarts, blackout, ladder, guard, noWindow, twoWindows, withoutPty, update];

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { claude: { type: 'string' }, pictures: { type: 'string' } },
    allowPositionals: true,
  });
  let passed = 0;
  let failed = 0;
  for (const story of stories.filter(({ name }) => positionals.every((word) => name.includes(word)))) {
    for (const version of story.versions.filter((one) => values.claude === undefined || one === values.claude)) {
      if (await play(story, version, values.pictures)) passed += 1;
      else failed += 1;
    }
  }
  const counts = process.env['BOWLINE_TEST_COUNTS'];
  if (counts !== undefined) writeFileSync(counts, JSON.stringify({ passed, failed, pending: 0 }));
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

async function play(story: Story, version: ClaudeVersion, pictures: string | undefined): Promise<boolean> {
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
  if (problem === undefined) return true;
  for (const line of lines) console.log(`        ${line}`);
  console.log(problem);
  console.log(look);
  return false;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
