import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, silentLog } from '../../../../src/base/log.ts';
import type { SessionRecord } from '../../../../src/gateway/mcp/sessionFile.ts';
import { sessionDigest, SessionStore } from '../../../../src/gateway/mcp/sessionStore.ts';

const session: Omit<SessionRecord, 'id'> = {
  agent: 'ada',
  launchId: 'ada.1',
  server: 'bowline-self',
  protocolVersion: '2025-11-25',
  client: { name: 'claude-code', version: '2.1.332' },
  createdAt: 1,
};

describe('MCP session store', () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bowline-sessions-'));
    path = join(directory, 'mcp-sessions.json');
  });

  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  const open = (log: Log = silentLog): Promise<SessionStore> => SessionStore.open({ path, clock: () => 7, log });

  it('has a session on disk, for this user only, when its promise resolves', async () => {
    const store = await open();
    const record = await store.add(session);
    const again = await open();
    assert.deepStrictEqual(
      {
        record: again.get(record.id),
        other: again.get('nonsense'),
        mode: (await stat(path)).mode & 0o777,
        id: /^[A-Za-z0-9_-]{43}$/.test(record.id),
      },
      { record: { id: record.id, ...session }, other: undefined, mode: 0o600, id: true },
    );
  });

  it('keeps ended sessions ended, also where an older list of sessions comes back', async () => {
    const store = await open();
    const [gone, stays] = await Promise.all([store.add(session), store.add(session)]);
    const before = JSON.parse(await readFile(path, 'utf8')) as { sessions: unknown };
    await store.end([gone.id, 'nonsense'], 'deleted by the client');
    const after = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...after, sessions: before.sessions }));
    const again = await open();
    assert.deepStrictEqual(
      [again.get(gone.id), again.endedBecause(gone.id), again.get(stays.id)?.id, again.endedBecause(stays.id)],
      [undefined, 'deleted by the client', stays.id, undefined],
    );
  });

  it('writes once for what comes together', async () => {
    const written: string[] = [];
    const write = async (_path: string, content: string): Promise<void> => {
      written.push(content);
      await new Promise((resolve) => setImmediate(resolve));
    };
    const store = await SessionStore.open({ path, clock: () => 7, log: silentLog, write });
    const records = await Promise.all(Array.from({ length: 20 }, () => store.add(session)));
    await store.settled();
    assert.deepStrictEqual(
      { atMostTwo: written.length <= 2, all: records.every(({ id }) => written.at(-1)?.includes(id)) },
      { atMostTwo: true, all: true },
    );
  });

  it('goes on in memory when the disk is full, and says so', async () => {
    const errors: string[] = [];
    let broken = true;
    const contents: string[] = [];
    const store = await SessionStore.open({
      path,
      clock: () => 7,
      log: { ...silentLog, error: (message) => errors.push(message) },
      write: (_path, content) => {
        if (broken) return Promise.reject(new Error('ENOSPC'));
        contents.push(content);
        return Promise.resolve();
      },
    });
    const first = await store.add(session);
    broken = false;
    await store.add(session);
    assert.deepStrictEqual(
      { known: store.get(first.id)?.id, errors: errors.length, writtenLater: contents[0]?.includes(first.id) },
      { known: first.id, errors: 1, writtenLater: true },
    );
  });

  it('keeps at most 500 tombstones, the newest', async () => {
    const store = await SessionStore.open({ path, clock: () => 7, log: silentLog, write: () => Promise.resolve() });
    const ids = await Promise.all(Array.from({ length: 520 }, async () => (await store.add(session)).id));
    for (const id of ids) await store.end([id], 'launch over');
    const kept = ids.map((id) => store.endedBecause(id) !== undefined);
    assert.deepStrictEqual([kept.indexOf(true), kept.filter(Boolean).length], [20, 500]);
  });

  it('drops a damaged item alone and sets a damaged file aside', async () => {
    const sound = { id: 'a'.repeat(43), ...session };
    await writeFile(path, JSON.stringify({ format: 1, sessions: [{ id: 7 }, sound], ended: ['x'] }));
    const warnings: unknown[] = [];
    const log: Log = { ...silentLog, warn: (message, fields) => warnings.push([message, fields?.['dropped']]) };
    const partly = await open(log);
    await writeFile(path, '{"format":1,"sess');
    const empty = await open(log);
    const record = await empty.add(session);
    const files = (await readdir(directory)).map((name) => name.replace(/damaged-.*/, 'damaged')).sort();
    assert.deepStrictEqual(
      [partly.all(), warnings, empty.all().length, (await open()).get(record.id)?.id, files],
      [
        [sound],
        [
          ['MCP sessions dropped: wrong shape', 2],
          ['MCP session file is damaged, set aside', undefined],
        ],
        1,
        record.id,
        ['mcp-sessions.json', 'mcp-sessions.json.damaged'],
      ],
    );
  });

  it('gives a digest that is no part of the id', () => {
    assert.match(sessionDigest('an-id'), /^[0-9a-f]{8}$/);
    assert.notEqual(sessionDigest('an-id'), sessionDigest('an-iD'));
  });
});
