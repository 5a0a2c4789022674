import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { searchTranscripts } from '../../src/node/transcriptFiles.ts';
import { type Figure, median, type Reading } from './figure.ts';

const transcripts = 5_000;
const size = 1024 * 1024;
const runs = 5;
const goalMs = 1_000;

/** Two directories that fold to one project folder: only what stands inside tells their conversations apart. */
const wanted = '/home/user/project_a';
const other = '/home/user/project-a';

/**
 * Finding the one conversation of a directory among 5,000 transcripts of 1 MB in its folder: head and tail of a real one,
 * with a hole between. Beside it, each as a process of its own: listing that folder, and searching it as text.
 */
export const finding: Figure = {
  name: 'finding',
  async measure(): Promise<readonly Reading[]> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'transcripts-'));
    const real = readFileSync('test/fixtures/claude/2.1.332/transcript.jsonl', 'utf8');
    const place = Math.floor(transcripts / 3);
    for (let index = 0; index < transcripts; index += 1) {
      const text = real.replaceAll('/home/user/project', index === place ? wanted : other);
      const file = path.join(folder, `${idOf(index)}.jsonl`);
      writeFileSync(file, text);
      truncateSync(file, size - text.length);
      appendFileSync(file, `\n${text}`);
    }
    const times: number[] = [];
    let mistakes = 0;
    for (let run = 0; run < runs; run += 1) {
      const start = performance.now();
      const { found, unreadable } = await searchTranscripts(wanted, { folders: [folder], paths: [] });
      times.push(performance.now() - start);
      if (found.length !== 1 || found[0]?.sessionId !== idOf(place) || unreadable.length > 0) mistakes += 1;
    }
    const listing = await timed('ls', ['-l', folder]);
    const searching = await timed('grep', ['-rlF', `"cwd":"${wanted}"`, folder]);
    const value = median(times);
    const worst = Math.max(...times).toFixed(0);
    return [
      {
        ...{ name: 'find one id in 5,000 transcripts', value, unit: 'ms', goal: goalMs },
        remark: `worst ${worst}; ls -l ${listing.toFixed(0)}, grep ${searching.toFixed(0)}; ${mistakes} mistakes`,
        failed: mistakes > 0,
      },
    ];
  },
};

function idOf(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

async function timed(program: string, words: readonly string[]): Promise<number> {
  const start = performance.now();
  await promisify(execFile)(program, words, { maxBuffer: 64 * 1024 * 1024 });
  return performance.now() - start;
}
