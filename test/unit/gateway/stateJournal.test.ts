import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import type { FileOperations } from '../../../src/gateway/stateJournal.ts';
import { loadState } from '../../../src/gateway/stateStore.ts';
import { type StatePaths, statePaths } from '../../../src/node/statePaths.ts';
import { formatOf } from '../../../src/protocol/stateFiles.ts';
import { created, fleetOnDisk, JournaledFleet } from '../../harness/journaledFleet.ts';
import { waitFor } from '../../harness/waitFor.ts';

/** Real files, with a list of what was done to them, and a word that the disk does not do any more. */
class WatchedFiles implements FileOperations {
  readonly done: string[] = [];
  refused: string | undefined;
  readonly link = this.watched('link', promises.link);
  readonly copyFile = this.watched('copy', promises.copyFile);
  readonly rename = this.watched('rename', promises.rename);
  readonly rm = this.watched('rm', promises.rm);

  readonly open: FileOperations['open'] = async (path, flags, mode) => {
    const name = basename(String(path));
    this.note('open', name);
    const file = await promises.open(path, flags, mode);
    const operations = new Map<string | symbol, string>([
      ['writeFile', 'write'],
      ['sync', 'sync'],
      ['datasync', 'sync'],
    ]);
    return new Proxy(file, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        const operation = operations.get(key);
        return (...given: unknown[]): unknown => {
          if (operation !== undefined) this.note(operation, name);
          return Reflect.apply(value, target, given);
        };
      },
    });
  };

  /** What was done since the last question. */
  take(): string[] {
    return this.done.splice(0);
  }

  private watched<Operation extends (path: never, ...rest: never[]) => Promise<unknown>>(
    word: string,
    operation: Operation,
  ): Operation {
    return new Proxy(operation, {
      apply: (target, self, given: unknown[]): unknown => {
        this.note(word, basename(String(given[0])));
        return Reflect.apply(target, self, given);
      },
    });
  }

  private note(word: string, name: string): void {
    if (this.refused === word)
      throw Object.assign(new Error(`ENOSPC: no space left on device, ${word}`), { code: 'ENOSPC' });
    this.done.push(`${word} ${name}`);
  }
}

describe('state journal', () => {
  let paths: StatePaths;
  let files: WatchedFiles;
  beforeEach(() => {
    paths = statePaths(mkdtempSync(join(tmpdir(), 'bowline-journal-')));
    files = new WatchedFiles();
  });
  afterEach(async () => {
    files.refused = undefined;
    for (const { journal } of opened.splice(0)) await journal.seal();
    rmSync(paths.directory, { recursive: true });
  });
  const opened: JournaledFleet[] = [];
  const open = async (options: Parameters<typeof JournaledFleet.open>[1] = {}): Promise<JournaledFleet> => {
    const fleet = await JournaledFleet.open(paths, options);
    opened.push(fleet);
    return fleet;
  };
  const names = (): string[] => readdirSync(paths.directory).sort();
  const agents = async (): Promise<string> => Object.keys((await fleetOnDisk(paths)).agents).join(' ');

  it('has a snapshot on disk before its name, and the name before a journal follows it', async () => {
    const fleet = await open({ files });
    const begun = files.take();
    await fleet.commit(created('a'));
    const directory = basename(paths.directory);
    assert.deepStrictEqual(
      [begun, files.take()],
      [
        [
          ...['open state.json.tmp', 'write state.json.tmp', 'sync state.json.tmp', 'rm state.json.previous.tmp'],
          ...['link state.json', 'rename state.json.tmp', `open ${directory}`, `sync ${directory}`],
        ],
        [
          ...['open journal-0.jsonl', 'write journal-0.jsonl', 'write journal-0.jsonl', 'sync journal-0.jsonl'],
          ...[`open ${directory}`, `sync ${directory}`],
        ],
      ],
    );
  });

  it('brings a change, or a burst of them, to disk with one write and one fsync', async () => {
    const fleet = await open({ files });
    await fleet.commit(created('a'));
    files.take();
    await fleet.commit(created('b'));
    const one = files.take();
    await fleet.commit(...Array.from({ length: 100 }, (_, index) => created(`c${index}`)));
    const appended = ['write journal-0.jsonl', 'sync journal-0.jsonl'];
    assert.deepStrictEqual([one, files.take()], [appended, appended]);
  });

  it('is private, and gives the same state again', async () => {
    const fleet = await open();
    await fleet.commit(created('a'), created('b'));
    assert.deepStrictEqual(
      [await fleetOnDisk(paths), names().map((name) => [name, statSync(join(paths.directory, name)).mode & 0o777])],
      [
        fleet.state,
        [
          ...[
            ['journal-0.jsonl', 0o600],
            ['state.json', 0o600],
          ],
        ],
      ],
    );
  });

  it('puts a snapshot in the place of a journal that has grown, and keeps the one before with the journals since', async () => {
    const fleet = await open({ compactAt: 1_000 });
    let most = 0;
    for (let number = 0; number < 60; number += 1) {
      await fleet.commit(created(`a${number}`));
      await waitFor('the snapshot', () => !names().includes('state.json.tmp'));
      most = Math.max(most, names().filter((name) => name.startsWith('journal')).length);
    }
    await fleet.journal.seal();
    const whole = await fleetOnDisk(paths);
    writeFileSync(paths.state, 'damaged');
    const again = await loadState(paths, silentLog);
    assert.deepStrictEqual(
      { whole, again: again.state, codes: again.notices.map(({ code }) => code), few: most <= 3 },
      { whole: fleet.state, again: fleet.state, codes: ['state-damaged'], few: true },
    );
  });

  it('writes on while a snapshot is made: nobody waits for it', async () => {
    const fleet = await open({ files, compactAt: 1 });
    await fleet.commit(created('a'));
    files.take();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const openFile = files.open;
    Object.assign(files, {
      open: async (path: string, ...rest: [string, number]) => {
        if (path.endsWith('state.json.tmp')) await held;
        return openFile(path, ...rest);
      },
    });
    await waitFor('the first snapshot', () => names().includes('state.json.previous'));
    await fleet.commit(created('b'));
    await fleet.commit(created('c'));
    const during = await agents();
    release();
    await fleet.journal.seal();
    assert.deepStrictEqual([during, await agents()], ['a b c', 'a b c']);
  });

  for (const [word, expected] of [
    ['write', { during: 'a', rejected: 2 }],
    // It is written, and nobody knows whether it would outlive a loss of power.
    ['sync', { during: 'a b', rejected: 2 }],
    // Both stop snapshots only; the journal goes on.
    ['link', { during: 'a b c', rejected: 0 }],
    ['rename', { during: 'a b c', rejected: 0 }],
  ] as const) {
    it(`keeps what is on disk when it refuses to ${word}, and brings everything there when it does not any more`, async () => {
      const fleet = await open({ files, compactAt: expected.rejected === 0 ? 1 : 10_000 });
      await fleet.commit(created('a'));
      await waitFor('calm', () => !names().includes('state.json.tmp'));
      files.refused = word;
      const rejected: unknown[] = [];
      for (const name of ['b', 'c']) await fleet.commit(created(name)).catch((error: unknown) => rejected.push(error));
      const during = await agents();
      files.refused = undefined;
      await fleet.commit(created('d'));
      const { state, notices } = await loadState(paths, silentLog);
      assert.deepStrictEqual(
        { during, rejected: rejected.length, state, notices },
        { ...expected, state: fleet.state, notices: [] },
      );
    });
  }

  it('says in one sentence what the disk refused, where, and what to do', async () => {
    const fleet = await open({ files });
    files.refused = 'open';
    await assert.rejects(fleet.commit(created('a')), {
      code: 'state-not-written',
      message:
        `Bowline cannot write its state in ${paths.directory} (ENOSPC: no space left on device, open). The fleet goes on ` +
        'in memory, and what is on disk is kept. Make room there, or make it writable: then everything is written by itself.',
    });
    assert.deepStrictEqual(names(), ['state.json']);
  });

  it('goes on where the run before ended, in a journal of its own', async () => {
    const first = await open();
    await first.commit(created('a'));
    const second = await open();
    await second.commit(created('b'));
    await second.commit(created('c'));
    const third = await open();
    assert.deepStrictEqual(
      [third.state, third.sequence, third.loaded.notices, names()],
      [second.state, 3, [], ['journal-0.jsonl', 'journal-1.jsonl', 'state.json']],
    );
  });

  it('leaves a torn end behind with its first write, and so tells it once', async () => {
    const first = await open();
    await first.commit(created('a'));
    await promises.appendFile(paths.journal(0), '{"sequence":2,"check');
    const second = await open();
    const told = second.loaded.notices.map(({ code }) => code);
    await second.commit(created('b'));
    await waitFor('the snapshot', () => names().includes('state.json.previous'));
    const third = await loadState(paths, silentLog);
    assert.deepStrictEqual([told, third.notices, third.state], [['journal-torn'], [], second.state]);
  });

  it('takes over format 1 before anything else, and keeps that file as the one before', async () => {
    const former = await open();
    former.report(created('a'));
    const text = JSON.stringify(former.state);
    writeFileSync(paths.state, text);
    const fleet = await open();
    const format = (): unknown => formatOf(JSON.parse(readFileSync(paths.state, 'utf8')));
    const before = [format(), readFileSync(paths.previousState, 'utf8')];
    await fleet.commit(created('b'));
    writeFileSync(paths.state, 'damaged');
    const { state } = await loadState(paths, silentLog);
    assert.deepStrictEqual([before, state], [[2, text], fleet.state]);
  });

  it('is sealed with one snapshot for the successor, and writes nothing any more', async () => {
    const fleet = await open();
    await fleet.commit(created('a'));
    await fleet.journal.seal();
    const { state, base } = await loadState(paths, silentLog);
    await assert.rejects(fleet.commit(created('b')), /another process/);
    assert.deepStrictEqual(
      [state.agents['a']?.name, base, await agents()],
      ['a', { kind: 'whole', sequence: 1, journalBytes: 0 }, 'a'],
    );
  });
});
