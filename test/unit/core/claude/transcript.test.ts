import { deepStrictEqual } from 'node:assert/strict';
import { projectFolderName, readTranscript, readTranscriptHead } from '../../../../src/core/claude/transcript.ts';
import { fixture, versions } from './fixtures.ts';

const user = (content: unknown, more: object = {}): string =>
  JSON.stringify({ type: 'user', sessionId: 's', cwd: '/p', message: { role: 'user', content }, ...more });

describe('transcripts', () => {
  for (const version of versions) {
    it(`tell prompts, answers and API errors of claude ${version}`, () => {
      const { facts, skipped } = readTranscript(fixture(version, 'transcript.jsonl'));
      const told = facts.filter(({ kind }) => kind !== 'other');
      deepStrictEqual(
        {
          kinds: told.map(({ kind }) => kind).join(' '),
          error: told.at(-1)?.errorText,
          code: told.at(-1)?.errorCode,
          directories: [...new Set(told.map(({ directory }) => directory))],
          sessions: new Set(facts.flatMap(({ sessionId }) => sessionId ?? [])).size,
          skipped,
        },
        {
          kinds: 'prompt answer prompt answer prompt answer prompt answer prompt answer prompt answer prompt api error',
          error: 'API Error: 400 messages.1.content.0: `thinking` blocks cannot be modified',
          code: 'unknown',
          directories: ['/home/user/project'],
          sessions: 1,
          skipped: [],
        },
      );
    });
  }

  it('skip a bad line alone and count it, whatever the first line is (case 14)', () => {
    const good = user('hello');
    const lines = [
      JSON.stringify({ type: 'pr-link', sessionId: 's' }),
      JSON.stringify({ type: 'summary', summary: 'x' }),
      JSON.stringify({ type: 'file-history-snapshot', snapshot: {} }),
      good.slice(0, 40),
      good + good,
      good.slice(0, 20) + '\0'.repeat(200) + good.slice(20),
      '\0'.repeat(200) + good,
      user('before\u2028after'),
      '[]',
      '7',
      '',
      '{"type":"of the future"}',
      good,
    ];
    const { facts, skipped } = readTranscript(`${lines.join('\n')}\n`);
    deepStrictEqual(
      { kinds: facts.map(({ kind }) => kind), skipped },
      { kinds: ['other', 'other', 'other', 'prompt', 'other', 'prompt'], skipped: [4, 5, 6, 7, 9, 10] },
    );
  });

  it('leave alone a last line that is still being written', () => {
    deepStrictEqual(
      ['', user('hello'), `${user('hello')}\n{"type":"us`, '\n'].map((text) => {
        const { facts, skipped } = readTranscript(text);
        return [facts.length, skipped.length];
      }),
      [
        [0, 0],
        [0, 0],
        [1, 0],
        [0, 0],
      ],
    );
  });

  it('take as a prompt only what a person said', () => {
    const lines = [
      user('hello'),
      user([{ type: 'text', text: 'look' }, { type: 'image' }]),
      user([{ type: 'tool_result', content: 'x' }]),
      user([{ type: 'text', text: '[Request interrupted by user for tool use]' }]),
      user('<command-name>/mcp</command-name>'),
      user('<local-command-stdout>x</local-command-stdout>'),
      user('hello', { isMeta: true }),
      user('hello', { isSidechain: true }),
      user(undefined),
    ];
    const { facts } = readTranscript(lines.map((line) => `${line}\n`).join(''));
    deepStrictEqual(
      facts.map(({ kind }) => kind),
      ['prompt', 'prompt', ...Array<string>(7).fill('other')],
    );
  });
});

describe('conversations of a directory', () => {
  it('fold to a folder name as Claude does (measured)', () => {
    const long = `/tmp/claude-lab/run-AsoQk6/project/${'x'.repeat(100)}/${'y'.repeat(120)}`;
    deepStrictEqual(
      ['/p/a_b', '/p/a-b', '/p/a.b', '/p/名前', '/p/会議', '/p/😀x', "/p/A b'c", long].map(projectFolderName),
      [
        '-p-a-b',
        '-p-a-b',
        '-p-a-b',
        '-p---',
        '-p---',
        '-p---x',
        '-p-A-b-c',
        `-tmp-claude-lab-run-AsoQk6-project-${'x'.repeat(100)}-${'y'.repeat(64)}-bi756z`,
      ],
    );
  });

  it('are known by where they began and what was said first, and read no further than that', () => {
    const mode = '{"type":"mode"}';
    const here = user('hello\n  there', { cwd: '/p/a_b' });
    const elsewhere = user('other', { cwd: '/p/a-b' });
    const command = user('<command-name>/mcp</command-name>', { cwd: '/p/a_b' });
    const heads = [
      [mode],
      [mode, here, elsewhere],
      [elsewhere, here],
      [command, '{torn', here],
      [here.slice(0, 30)],
      [],
    ];
    deepStrictEqual(
      heads.map((lines) => readTranscriptHead(lines.map((line) => `${line}\n`).join(''), '/p/a_b')),
      [
        {},
        { directory: '/p/a_b', firstPrompt: 'hello there' },
        { directory: '/p/a-b' },
        { directory: '/p/a_b', firstPrompt: 'hello there' },
        {},
        {},
      ],
    );
    deepStrictEqual(
      [readTranscriptHead(here, '/p/a_b'), readTranscriptHead(`${elsewhere}\n`)],
      [{}, { directory: '/p/a-b', firstPrompt: 'other' }],
    );
  });
});
