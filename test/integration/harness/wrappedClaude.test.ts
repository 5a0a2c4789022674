import { deepStrictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { WrappedClaude } from '../../harness/wrappedClaude.ts';

const run = promisify(execFile);

describe('the wrapper around claude', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await realpath(await mkdtemp(path.join(os.tmpdir(), 'bowline-')));
  });

  afterEach(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  it('notes each start, changes it as it was told, and becomes the real program', async () => {
    const below = (name: string): string => path.join(directory, name);
    await writeFile(below('printer'), `#!/bin/sh\nprintf '%s|' "$@"\n`, { mode: 0o755 });
    await writeFile(below('mcp.json'), '{"url":"here"}');
    const wrapped = await WrappedClaude.create(below('a wrapper'), below('printer'));
    const start = async (...words: readonly string[]): Promise<string> => {
      const BOWLINE_LAUNCH = words.length === 2 ? 'ada.1' : 'ada.2';
      const environment = { PATH: process.env['PATH'] ?? '', BOWLINE_AGENT: 'ada', BOWLINE_LAUNCH };
      return (await run(wrapped.program, words, { env: environment })).stdout;
    };
    const fresh = [`--settings=${below('a file')}`, `--mcp-config=${below('mcp.json')}`];
    const resume = [...fresh, '--resume=one', "it's\nhere"];

    const plain = [await start(...fresh), await start(...resume)];
    await wrapped.behave('ada', 'resume', { mcp: { sed: `s/"here"/'there'/` }, conversation: { session: 'two' } });
    const changed = [await start(...fresh), await start(...resume)];
    const copy = below('a wrapper/ada.mcp.json');
    const { stdout: text } = await run('cat', [copy]);
    await wrapped.behave('ada', 'resume', { mcp: 'strip', hooks: 'strip', conversation: 'strip' });

    const said = (words: readonly string[]): string => words.map((word) => `${word}|`).join('');
    deepStrictEqual(
      { plain, changed, text, stripped: await start(...resume), starts: (await wrapped.starts()).slice(0, 2) },
      {
        plain: [said(fresh), said(resume)],
        changed: [said(fresh), said([fresh[0] ?? '', `--mcp-config=${copy}`, '--resume=two', "it's\nhere"])],
        text: `{"url":'there'}`,
        stripped: said(["it's\nhere"]),
        starts: [
          { agent: 'ada', launch: 'ada.1', arguments: fresh },
          { agent: 'ada', launch: 'ada.2', arguments: [...fresh, '--resume=one', "it's here"] },
        ],
      },
    );
  });
});
