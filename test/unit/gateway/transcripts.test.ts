import { deepStrictEqual } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectFolderName } from '../../../src/core/claude/transcript.ts';
import type { Agent, SessionRecord } from '../../../src/core/fleet/agent.ts';
import { emptyFleet } from '../../../src/core/fleet/state.ts';
import { conversationsFor } from '../../../src/gateway/transcripts.ts';

const id = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;

const line = (sessionId: string, cwd: string, text: string): string =>
  `${JSON.stringify({ type: 'user', sessionId, cwd, message: { role: 'user', content: text } })}\n`;

describe('the conversations that an agent could go on with', () => {
  let home: string;
  let folder: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'bowline-transcripts-'));
    folder = join(home, '.claude', 'projects', projectFolderName('/p/a_b'));
    mkdirSync(folder, { recursive: true });
  });
  afterEach(() => {
    rmSync(home, { recursive: true, force: true });
  });

  const agent = (session?: Partial<SessionRecord>, lineage: readonly Partial<SessionRecord>[] = []): Agent => {
    const record = (some: Partial<SessionRecord>): SessionRecord => ({
      ...{ id: id(1), launchId: 'l', cause: 'startup', since: 1, reportedAt: 1, prompted: true, turnsCompleted: 1 },
      ...some,
    });
    return {
      name: 'ada',
      configuration: { directory: '/p/a_b', extraArguments: [], environment: {}, servers: {} },
      createdAt: 1,
      life: { kind: 'stopped', at: 1 },
      activity: { kind: 'unknown', since: 1, source: 'none' },
      ...(session !== undefined && { session: record(session) }),
      lineage: lineage.map(record),
      launches: [],
      launchCount: 0,
      bindings: {},
      incidents: {},
    };
  };

  const write = (name: string, text: string, second: number): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    utimesSync(path, second, second);
    return path;
  };

  it('are its own and those that began in its directory, the current one first', async () => {
    const current = write(`${id(1)}.jsonl`, line(id(1), '/p/a_b', 'mine\nof today'), 10);
    const other = write(`${id(2)}.jsonl`, `{torn\n${line(id(2), '/p/a_b', 'x'.repeat(300))}`, 20);
    write(`${id(3)}.jsonl`, line(id(3), '/p/a-b', 'of a directory that folds to the same name'), 30);
    write(`${id(4)}.jsonl`, '{"type":"mode"}\n', 40);
    write('agent-7.jsonl', line('agent-7', '/p/a_b', 'of a subagent'), 50);
    mkdirSync(join(folder, `${id(6)}.jsonl`));
    const rows = await conversationsFor(
      emptyFleet,
      agent({ id: id(1), transcriptPath: current }, [
        { id: id(5), cause: 'clear', since: 7_000, transcriptPath: join(home, 'gone', `${id(5)}.jsonl`) },
      ]),
      { HOME: home },
    );
    deepStrictEqual(rows, [
      {
        sessionId: id(1),
        at: 10_000,
        transcript: { path: current, bytes: line(id(1), '/p/a_b', 'mine\nof today').length },
        firstPrompt: 'mine of today',
        relation: 'current',
        cause: 'startup',
      },
      {
        sessionId: id(2),
        at: 20_000,
        transcript: { path: other, bytes: line(id(2), '/p/a_b', 'x'.repeat(300)).length + 6 },
        firstPrompt: 'x'.repeat(120),
        relation: 'other',
      },
      { sessionId: id(5), at: 7_000, relation: 'former', cause: 'clear' },
    ]);
  });

  it('are found where the environment says, and where a hook said', async () => {
    const elsewhere = join(home, 'elsewhere', 'projects', projectFolderName('/p/a_b'));
    mkdirSync(elsewhere, { recursive: true });
    writeFileSync(join(elsewhere, `${id(2)}.jsonl`), line(id(2), '/p/a_b', 'configured'));
    write(`${id(1)}.jsonl`, line(id(1), '/p/a_b', 'told'), 10);
    const settings = { ...emptyFleet.settings, environment: { CLAUDE_CONFIG_DIR: join(home, 'elsewhere') } };
    const found = async (one: Agent): Promise<readonly unknown[]> =>
      (await conversationsFor({ ...emptyFleet, settings }, one, {})).map(({ firstPrompt }) => firstPrompt);
    deepStrictEqual(
      [
        await found(agent()),
        await found(agent({ id: id(1), transcriptPath: join(folder, `${id(1)}.jsonl`) })),
        await conversationsFor(emptyFleet, agent(), {}),
      ],
      [['configured'], ['told', 'configured'], []],
    );
  });

  it('are read on where a long line hides the first prompt', async () => {
    const long = JSON.stringify({ type: 'attachment', text: 'y'.repeat(100_000) });
    write(`${id(1)}.jsonl`, `${long}\n${line(id(1), '/p/a_b', 'late')}`, 10);
    const rows = await conversationsFor(emptyFleet, agent(), { HOME: home });
    deepStrictEqual(
      rows.map(({ firstPrompt }) => firstPrompt),
      ['late'],
    );
  });
});
