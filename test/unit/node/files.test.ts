import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import {
  ensurePrivateDirectory,
  exists,
  quarantine,
  readJsonFile,
  readTextFile,
  writeFileAtomic,
} from '../../../src/node/files.ts';

describe('files', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'bowline-files-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it('replaces a file as a whole, private whatever the umask and the old mode are', async () => {
    const path = join(directory, 'a.json');
    await writeFile(path, 'old', { mode: 0o644 });
    const umask = process.umask(0o277);
    try {
      await writeFileAtomic(path, 'new');
      await writeFileAtomic(join(directory, 'run'), 'x', { mode: 0o700 });
    } finally {
      process.umask(umask);
    }
    const modeOf = async (name: string): Promise<number> => (await stat(join(directory, name))).mode & 0o777;
    assert.deepStrictEqual(
      [await readFile(path, 'utf8'), await modeOf('a.json'), await modeOf('run'), (await readdir(directory)).sort()],
      ['new', 0o600, 0o700, ['a.json', 'run']],
    );
  });

  it('leaves the old content and no temporary file when the write or the rename fails', async () => {
    const occupied = join(directory, 'occupied');
    await mkdir(join(occupied, 'child'), { recursive: true });
    await assert.rejects(writeFileAtomic(occupied, 'text'), { code: /EISDIR|ENOTEMPTY|EEXIST/ });
    const kept = join(directory, 'kept');
    await writeFile(kept, 'old');
    // A value that the write itself refuses, after the temporary file was made.
    await assert.rejects(writeFileAtomic(kept, Object.create(null) as string));
    await assert.rejects(writeFileAtomic(join(directory, 'none', 'file'), 'text'), { code: 'ENOENT' });
    assert.deepStrictEqual(
      [await readFile(kept, 'utf8'), (await readdir(directory)).sort()],
      ['old', ['kept', 'occupied']],
    );
  });

  it('lets readers see one of the whole contents only while many write', async () => {
    const path = join(directory, 'busy');
    const contents = ['a', 'b', 'c'].map((letter) => letter.repeat(100_000));
    await writeFileAtomic(path, contents[0] ?? '');
    const state = { writing: true };
    const writers = Promise.all(
      contents.map(async (content) => {
        for (let round = 0; round < 10; round++) await writeFileAtomic(path, content);
      }),
    ).finally(() => {
      state.writing = false;
    });
    const seen = new Set<string | undefined>();
    while (state.writing) seen.add(await readTextFile(path));
    await writers;
    assert.deepStrictEqual(
      [...seen].filter((text) => !contents.includes(text ?? '')),
      [],
    );
  });

  it('tells missing, damaged and good JSON files apart and never quotes a damaged one', async () => {
    const schema = z.object({ key: z.string() });
    const read = async (text: string): Promise<unknown> => {
      await writeFile(join(directory, 'x.json'), text);
      return readJsonFile(join(directory, 'x.json'), schema);
    };
    assert.deepStrictEqual(
      [
        await readJsonFile(join(directory, 'none.json'), schema),
        await read('{"key":"value"}'),
        await read(''),
        await read('secret'),
        await read('{"key":"sec'),
        await read('{"key":5}'),
      ],
      [
        { kind: 'missing' },
        { kind: 'ok', value: { key: 'value' } },
        { kind: 'damaged', reason: 'empty file' },
        { kind: 'damaged', reason: 'not JSON' },
        { kind: 'damaged', reason: 'not JSON' },
        { kind: 'damaged', reason: 'key: Invalid input: expected string, received number', value: { key: 5 } },
      ],
    );
    const refusing = readJsonFile(join(directory, 'x.json'), schema, (value) => {
      throw new Error(`seen before the schema: ${JSON.stringify(value)}`);
    });
    await assert.rejects(refusing, { message: 'seen before the schema: {"key":5}' });
    await assert.rejects(readJsonFile(directory, schema), { code: 'EISDIR' });
  });

  it('quarantines damaged files side by side', async () => {
    const path = join(directory, 'state.json');
    const targets: string[] = [];
    for (const text of ['first', 'second', 'third']) {
      await writeFile(path, text);
      targets.push(await quarantine(path));
    }
    assert.deepStrictEqual(
      [await exists(path), await Promise.all(targets.map((target) => readFile(target, 'utf8')))],
      [false, ['first', 'second', 'third']],
    );
    assert.ok(targets.every((target) => target.startsWith(`${path}.damaged-`)));
  });

  it('makes directories private and says which one it cannot use', async () => {
    const open = join(directory, 'open');
    await mkdir(open);
    chmodSync(open, 0o755);
    await ensurePrivateDirectory(open);
    await ensurePrivateDirectory(join(directory, 'new', 'deep'));
    await writeFile(join(directory, 'file'), '');
    symlinkSync(join(directory, 'nowhere'), join(directory, 'dangling'));
    const modes = await Promise.all(
      [open, join(directory, 'new'), join(directory, 'new', 'deep')].map(
        async (path) => (await stat(path)).mode & 0o777,
      ),
    );
    assert.deepStrictEqual(modes, [0o700, 0o700, 0o700]);
    for (const path of ['file', 'file/below', 'dangling']) {
      await assert.rejects(ensurePrivateDirectory(join(directory, path)), (error: Error & { code?: string }) => {
        return error.code === 'state-unreadable' && error.message.includes(join(directory, path));
      });
    }
  });
});
