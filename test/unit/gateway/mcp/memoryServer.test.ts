import { deepStrictEqual } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log.ts';
import type { EndpointServer } from '../../../../src/gateway/mcp/endpointServer.ts';
import { memoryServer } from '../../../../src/gateway/mcp/memoryServer.ts';
import { Notes } from '../../../../src/gateway/notes.ts';
import { type StatePaths, statePaths } from '../../../../src/node/statePaths.ts';
import { MemoryFleet } from '../../../harness/mcpFleet.ts';
import { callTool } from '../../../harness/toolCalls.ts';

describe('bowline-memory', () => {
  let paths: StatePaths;
  let fleet: MemoryFleet;
  let server: EndpointServer;
  let now: number;

  const run = (): void => {
    const clock = (): number => now;
    server = memoryServer({
      notes: new Notes({ fleet, paths, clock, log: silentLog }),
      ...{ clock, log: silentLog, version: '0' },
    });
  };
  const call = async (agent: string, tool: string, input: object = {}): Promise<string> => {
    return (await callTool(server, agent, tool, input)).replaceAll(paths.directory, '<state>');
  };
  const remember = async (agent: string, text: string, more: object = {}): Promise<string> => {
    return /n-[0-9a-f]{10}/.exec(await call(agent, 'remember', { text, ...more }))?.[0] ?? '';
  };
  /** The texts that are found, in their order. */
  const found = async (agent: string, query: string, limit?: number): Promise<string[]> => {
    const answer = await call(agent, 'recall', { query, ...(limit !== undefined && { limit }) });
    return [...answer.matchAll(/^> (.*)$/gm)].map(([, text = '']) => text);
  };

  beforeEach(() => {
    now = Date.UTC(2026, 0, 2, 3, 4, 5);
    paths = statePaths(mkdtempSync(join(tmpdir(), 'bowline-memory-')));
    fleet = new MemoryFleet();
    run();
  });
  afterEach(() => {
    rmSync(paths.directory, { recursive: true });
  });

  it('brings back own and shared notes with writer, time and tags, also after a restart', async () => {
    const own = await call('ada', 'remember', { text: 'The build needs\nNode 20', tags: ['build', 'node'] });
    now += 60_000;
    await remember('bo', 'Build servers are in Hamburg', { scope: 'shared' });
    await remember('bo', 'the build of bo alone');
    run();
    now += 180_000;
    const shown = await call('ada', 'recall', { query: 'build' });
    deepStrictEqual(
      [own.replace(/n-\w+/, '<id>'), shown.replaceAll(/n-[0-9a-f]{10}/g, '<id>')],
      [
        'Kept as <id>, for you alone.',
        [
          '2 of 2 found in 2 notes, best first.',
          'Note <id>, yours alone, 4 min ago (2026-01-02T03:04:05.000Z), tags "build" "node":\n> The build needs\n> Node 20',
          'Note <id>, shared, by bo, 3 min ago (2026-01-02T03:05:05.000Z):\n> Build servers are in Hamburg',
        ].join('\n\n'),
      ],
    );
    deepStrictEqual(
      [paths.sharedNotes, paths.agent('bo').notes].map((path) => statSync(path).mode & 0o777),
      [0o600, 0o600],
    );
  });

  it('finds by beginnings, slips of the pen, without accents and in text without spaces, best first', async () => {
    const texts = [
      'Deployment: run scripts/deploy.sh from main',
      'Änderungen am Gateway brauchen eine Prüfung',
      '网关重启以后需要检查数据库连接',
      'The gateway logs to log/gateway.jsonl; gateway restarts are harmless',
      'Nothing of the kind',
    ];
    for (const text of texts) await remember('ada', text);
    const [deploy, pruefung, chinese, logs] = texts;
    deepStrictEqual(
      [
        await found('ada', 'deploy'),
        await found('ada', 'anderung prufung'),
        await found('ada', '数据库'),
        await found('ada', 'gatway'),
        await found('ada', 'zebra'),
        await found('ada', '', 2),
        await found('ada', '?!'),
      ],
      [[deploy], [pruefung], [chinese], [logs, pruefung], [], [texts[4], logs], []],
    );
  });

  it('lets nobody read or forget a private note of another, and everybody forget a shared one', async () => {
    const own = await remember('ada', 'private plan');
    const shared = await remember('ada', 'shared plan', { scope: 'shared' });
    const answers = [
      await found('bo', 'plan'),
      await call('bo', 'forget', { id: own }),
      await call('bo', 'forget', { id: shared }),
      await call('bo', 'forget', { id: shared }),
      await call('ada', 'forget', { id: own }),
      await call('ada', 'recall', { query: 'plan' }),
    ];
    const unseen = 'forgotten before, or never there. recall tells the ids.';
    deepStrictEqual(answers, [
      ['shared plan'],
      `ERROR You see no note "${own}": ${unseen}`,
      `Forgot ${shared}, which ada wrote.`,
      `ERROR You see no note "${shared}": ${unseen}`,
      `Forgot ${own}.`,
      'There are no notes yet. Keep one with remember.',
    ]);
  });

  it('keeps a text once, as a call that is repeated needs it', async () => {
    const first = await remember('ada', 'once');
    deepStrictEqual(
      [await call('ada', 'remember', { text: 'once' }), await found('ada', 'once')],
      [`This very text is kept already as ${first}, for you alone.`, ['once']],
    );
  });

  it('refuses what is empty, too long or one too many, and tells the number', async () => {
    const note = (index: number): object => ({ id: `n-${index}`, by: 'bo', at: now, tags: [], text: `note ${index}` });
    const items = Array.from({ length: 1_000 }, (_value, index) => note(index));
    writeFileSync(paths.sharedNotes, JSON.stringify({ format: 1, items }));
    const long = Array.from({ length: 277 }, (_value, index) => ({ ...note(index), text: `${index} `.repeat(2_000) }));
    mkdirSync(paths.agent('ada').directory, { recursive: true });
    writeFileSync(paths.agent('ada').notes, JSON.stringify({ format: 1, items: long }));
    const bytes = long.reduce((sum, { text }) => sum + text.length, 0);
    deepStrictEqual(
      [
        await call('ada', 'remember', { text: '\t' }),
        await call('ada', 'remember', { text: 'x'.repeat(8_001) }),
        await call('ada', 'remember', { text: 'x', tags: [''] }),
        await call('ada', 'remember', { text: 'one more', scope: 'shared' }),
        await call('ada', 'remember', { text: 'x'.repeat(8_000) }),
      ].map((text) => text.replace('characters', '')),
      [
        'ERROR The text is empty; nothing was kept. Call again with what is to be known.',
        'ERROR The text has 8001 bytes, a note at most 8000; nothing was kept. Make several notes of it, one fact each, or write it into a file and remember the path.',
        'ERROR Input validation error: Invalid arguments for tool remember: tags.0: Too small: expected string to have >=1 ',
        'ERROR Nothing was kept: there are 1000 notes of 7890 bytes here, at most 1000 of 2000000 bytes can be. Forget some that are not needed any more.',
        `ERROR Nothing was kept: there are 277 notes of ${bytes} bytes here, at most 1000 of 2000000 bytes can be. Forget some that are not needed any more.`,
      ],
    );
  });

  it('tells that the disk refused, and reads and changes nothing of a newer Bowline', async () => {
    await remember('ada', 'first');
    mkdirSync(paths.sharedNotes);
    const refused = await call('ada', 'remember', { text: 'second', scope: 'shared' });
    rmSync(paths.sharedNotes, { recursive: true });
    writeFileSync(paths.sharedNotes, '{"format":7}');
    const newer = await call('ada', 'recall', { query: 'first' });
    deepStrictEqual(
      [refused, newer.slice(0, 110), readFileSync(paths.sharedNotes, 'utf8')],
      [
        'ERROR Nothing was kept: EISDIR: illegal operation on a directory, read. Tell the person, then call remember again.',
        'ERROR The tool failed inside Bowline: <state>/shared-notes.json was written by a newer Bowline (format 7, this',
        '{"format":7}',
      ],
    );
  });
});
