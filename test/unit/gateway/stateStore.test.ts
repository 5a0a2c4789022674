import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { reduceAll } from '../../../src/core/fleet/reduce.ts';
import { emptyFleet, type FleetState } from '../../../src/core/fleet/state.ts';
import { loadState } from '../../../src/gateway/stateStore.ts';
import { journalHeader, journalLine, snapshotParts } from '../../../src/node/stateFiles.ts';
import { type StatePaths, statePaths } from '../../../src/node/statePaths.ts';
import { created, JournaledFleet } from '../../harness/journaledFleet.ts';

function fleetOf(...names: string[]): FleetState {
  return reduceAll(names.map((name) => created(name)));
}

function snapshot(sequence: number, ...names: string[]): string {
  return [...snapshotParts({ sequence, state: fleetOf(...names) })].join('');
}

/** A journal with one new agent per event. */
function journal(after: number, ...names: string[]): string {
  return journalHeader + names.map((name, index) => line(after + 1 + index, name)).join('');
}

function line(sequence: number, name: string): string {
  return journalLine({ sequence, event: created(name) });
}

describe('state store', function () {
  this.timeout(30_000);
  let paths: StatePaths;
  beforeEach(() => {
    paths = statePaths(mkdtempSync(join(tmpdir(), 'bowline-state-')));
  });
  afterEach(() => {
    rmSync(paths.directory, { recursive: true });
  });
  const load = async (): Promise<{ agents: string[]; codes: string[]; sentences: string }> => {
    const { state, notices } = await loadState(paths, silentLog);
    return {
      agents: Object.keys(state.agents),
      codes: notices.map(({ code }) => code),
      sentences: notices.map(({ sentence }) => sentence).join(' '),
    };
  };
  const brief = async (): Promise<string> => {
    const { agents, codes } = await load();
    return [agents.join(' '), ...codes].join('; ');
  };
  const files = (part: string): string[] => readdirSync(paths.directory).filter((name) => name.includes(part));

  it('begins with an empty fleet', async () => {
    assert.deepStrictEqual(await loadState(paths, silentLog), {
      state: emptyFleet,
      sequence: 0,
      notices: [],
      base: { kind: 'in part', sequence: 0, journalBytes: 0 },
    });
  });

  it('folds the journals into the snapshot that they follow, in their order, and no older ones', async () => {
    writeFileSync(paths.state, snapshot(2, 'a', 'b'));
    writeFileSync(paths.journal(0), journal(0, 'x', 'y'));
    writeFileSync(paths.journal(2), journal(2, 'c'));
    writeFileSync(paths.journal(3), journal(3));
    const last = journal(3, 'd', 'e');
    writeFileSync(paths.journal(3), last);
    const { state, sequence, notices, base } = await loadState(paths, silentLog);
    assert.deepStrictEqual(
      { state, sequence, notices, base },
      {
        state: fleetOf('a', 'b', 'c', 'd', 'e'),
        sequence: 5,
        notices: [],
        base: { kind: 'whole', sequence: 2, journalBytes: last.length + journal(2, 'c').length },
      },
    );
  });

  it('takes over a state of format 1, and no journal that lies beside it', async () => {
    writeFileSync(paths.state, JSON.stringify(fleetOf('a', 'b')));
    const clean = await loadState(paths, silentLog);
    writeFileSync(paths.journal(0), journal(0, 'x'));
    assert.deepStrictEqual(
      [clean.state, clean.notices, clean.base.kind, await brief(), files('journal-0.jsonl.damaged').length],
      [fleetOf('a', 'b'), [], 'in part', 'a b; journal-damaged', 1],
    );
  });

  for (const [name, change] of [
    ['torn', (text: string): string => text.slice(0, text.length >> 1)],
    ['empty', (): string => ''],
    ['of the wrong shape', (): string => '{"format":2,"sequence":2,"state":{"format":1,"agents":[]}}'],
    ['changed in one letter', (text: string): string => text.replace('/d', '/e')],
    ['of another number', (text: string): string => text.replace('"sequence":2', '"sequence":1')],
  ] as const) {
    it(`puts a state file aside that is ${name}, and has it again from the one before it and the journals`, async () => {
      const text = change(snapshot(2, 'a', 'b'));
      writeFileSync(paths.state, text);
      writeFileSync(paths.previousState, snapshot(1, 'a'));
      writeFileSync(paths.journal(1), journal(1, 'b'));
      writeFileSync(paths.journal(2), journal(2, 'c'));
      const { agents, codes, sentences } = await load();
      const [kept = ''] = files('state.json.damaged-');
      assert.deepStrictEqual(
        {
          ...{ agents, codes },
          said: [sentences.includes(kept), sentences.includes('nothing is to be done')],
          kept: readFileSync(join(paths.directory, kept), 'utf8'),
        },
        { agents: ['a', 'b', 'c'], codes: ['state-damaged'], said: [true, true], kept: text },
      );
    });
  }

  it('has the whole state again when the snapshot is cut off at any byte', async () => {
    const text = snapshot(2, 'a', 'b');
    const faults: unknown[] = [];
    for (let bytes = 0; bytes < text.length; bytes += bytes < text.length - 60 ? 9 : 1) {
      writeFileSync(paths.state, text.slice(0, bytes));
      writeFileSync(paths.previousState, snapshot(1, 'a'));
      writeFileSync(paths.journal(1), journal(1, 'b'));
      writeFileSync(paths.journal(2), journal(2, 'c'));
      const found = await brief();
      if (found !== 'a b c; state-damaged') faults.push({ bytes, found });
      rmSync(paths.directory, { recursive: true });
      mkdirSync(paths.directory);
    }
    assert.deepStrictEqual(faults, []);
  });

  it('uses the state before when the file is gone, with the journals where they are there', async () => {
    writeFileSync(paths.previousState, snapshot(1, 'a'));
    const without = await load();
    writeFileSync(paths.journal(1), journal(1, 'b'));
    const [said, more] = [without.sentences.includes('check the agents that changed last'), await load()];
    assert.deepStrictEqual(
      [without.agents, without.codes, said, more.agents, more.codes, more.sentences.includes('nothing is to be done')],
      [['a'], ['state-missing'], true, ['a', 'b'], ['state-missing'], true],
    );
  });

  it('loses of a journal that is cut off at any byte only its last record, and keeps that aside', async () => {
    const whole = journal(2, 'c', 'd');
    const last = line(4, 'd');
    const faults: unknown[] = [];
    for (let bytes = 1; bytes < last.length; bytes += 1) {
      writeFileSync(paths.state, snapshot(2, 'a', 'b'));
      writeFileSync(paths.journal(2), whole.slice(0, whole.length - last.length + bytes));
      const found = await load();
      // Without its line feed alone it is whole.
      const isWhole = bytes === last.length - 1;
      const kept = files('journal-2.jsonl.dropped-4').map((name) => readFileSync(join(paths.directory, name), 'utf8'));
      const told = found.sentences.includes(`${paths.journal(2)}.dropped-4`);
      const expected = isWhole
        ? { agents: 'a b c d', codes: [], kept: [], told: false }
        : { agents: 'a b c', codes: ['journal-torn'], kept: [last.slice(0, bytes)], told: true };
      const actual = { agents: found.agents.join(' '), codes: found.codes, kept, told };
      if (JSON.stringify(actual) !== JSON.stringify(expected)) faults.push({ bytes, actual });
      rmSync(paths.directory, { recursive: true });
      mkdirSync(paths.directory);
    }
    assert.deepStrictEqual(faults, []);
  });

  it('finds any changed byte of a record', async () => {
    const before = journal(2, 'c');
    const record = Buffer.from(line(4, 'd'));
    const faults: unknown[] = [];
    writeFileSync(paths.state, snapshot(2, 'a', 'b'));
    for (let index = 0; index < record.length; index += 1) {
      const changed = Buffer.from(record);
      changed[index] = (changed[index] ?? 0) ^ 1;
      writeFileSync(paths.journal(2), Buffer.concat([Buffer.from(before), changed]));
      const { agents, codes } = await load();
      if (agents.join(' ') !== 'a b c' || codes.length !== 1) faults.push({ index, agents, codes });
    }
    assert.deepStrictEqual(faults, []);
  });

  it('stops at a damaged record, keeps it and all that follows aside, and says which agents to check', async () => {
    writeFileSync(paths.state, snapshot(1, 'a'));
    const dropped = line(3, 'c').replace('/d', '/e') + line(4, 'd');
    writeFileSync(paths.journal(1), journal(1, 'b') + dropped);
    writeFileSync(paths.journal(4), journal(4, 'e'));
    const { agents, codes, sentences } = await load();
    assert.deepStrictEqual(
      {
        ...{ agents, codes },
        kept: readFileSync(`${paths.journal(1)}.dropped-3`, 'utf8'),
        aside: files('journal-4.jsonl.damaged-').map((name) => sentences.includes(name)),
      },
      { agents: ['a', 'b'], codes: ['journal-damaged'], kept: dropped, aside: [true] },
    );
  });

  it('says nothing more of a torn end behind which a later run began its own journal', async () => {
    writeFileSync(paths.state, snapshot(1, 'a'));
    writeFileSync(paths.journal(1), journal(1, 'b') + line(3, 'x').slice(0, 20));
    writeFileSync(paths.journal(2), journal(2, 'c'));
    assert.equal(await brief(), 'a b c');
  });

  it('leaves out an event of a kind that this version does not know, counts it and says so', async () => {
    writeFileSync(paths.state, snapshot(1, 'a'));
    const known = line(2, 'b');
    const strange = journalLine({ sequence: 3, event: { at: 1, kind: 'of the future' } as never });
    writeFileSync(paths.journal(1), journalHeader + known + strange + line(4, 'c'));
    const { agents, codes, sentences } = await load();
    assert.deepStrictEqual(
      { agents, codes, counted: sentences.includes('holds 1 changes') },
      { agents: ['a', 'b', 'c'], codes: ['journal-unknown'], counted: true },
    );
  });

  it('picks out the agents that are whole when neither file is, and folds the journal in', async () => {
    const state = fleetOf('a', 'b', 'c');
    const damaged = { ...state, agents: { ...state.agents, b: { ...state.agents['b'], launchCount: 'x' } } };
    writeFileSync(paths.state, JSON.stringify({ format: 2, sequence: 3, state: damaged, checksum: '0' }));
    writeFileSync(paths.previousState, '');
    writeFileSync(paths.journal(3), journal(3, 'd'));
    const { agents, codes, sentences } = await load();
    assert.deepStrictEqual(
      { agents, codes, counted: sentences.includes('1 damaged') },
      { agents: ['a', 'c', 'd'], codes: ['state-damaged'], counted: true },
    );
  });

  it('picks them out of a damaged state of format 1, too', async () => {
    const state = fleetOf('a', 'b');
    writeFileSync(paths.state, JSON.stringify({ ...state, agents: { ...state.agents, b: 7 } }));
    assert.equal(await brief(), 'a; state-damaged');
  });

  it('has a young fleet again from its journals alone', async () => {
    writeFileSync(paths.journal(0), journal(0, 'a', 'b'));
    const gone = await brief();
    writeFileSync(paths.state, 'x');
    assert.deepStrictEqual([gone, await brief()], ['a b; state-missing', 'a b; state-damaged']);
  });

  it('says so when nothing can be read, instead of being silently empty', async () => {
    writeFileSync(paths.state, 'x');
    const { agents, codes } = await load();
    assert.deepStrictEqual(
      { agents, codes, kept: files('.damaged-').length },
      { agents: [], codes: ['state-damaged'], kept: 1 },
    );
  });

  it('says so when both files are gone though agents have files, and names them', async () => {
    for (const name of ['bo', 'ada', 'not a name']) mkdirSync(join(paths.agents, name), { recursive: true });
    const { agents, codes, sentences } = await load();
    assert.deepStrictEqual(
      { agents, codes, sentences },
      {
        agents: [],
        codes: ['state-missing'],
        sentences:
          'The state file and the one before it are gone, so Bowline has no record of its agents. ' +
          'Files of ada, bo are still there. What runs goes on and is not touched: create the agents again; ' +
          'where one still runs, Bowline says how to reach it.',
      },
    );
  });

  it('refuses snapshot and journal of a newer Bowline and leaves them alone', async () => {
    writeFileSync(paths.state, '{"format":3}');
    await assert.rejects(load(), { code: 'state-unreadable', message: /newer Bowline \(format 3/ });
    writeFileSync(paths.state, snapshot(1, 'a'));
    writeFileSync(paths.journal(1), '{"format":3}\n{"other":1}\n');
    const before = readdirSync(paths.directory).map((name) => readFileSync(join(paths.directory, name), 'utf8'));
    await assert.rejects(load(), { code: 'state-unreadable', message: /journal-1\.jsonl was written by a newer/ });
    assert.deepStrictEqual(
      readdirSync(paths.directory).map((name) => readFileSync(join(paths.directory, name), 'utf8')),
      before,
    );
  });

  it('gives back the same state whatever the clock said when it was written', async () => {
    const fleet = await JournaledFleet.open(paths);
    await fleet.commit(created('a', 9e12), created('b', 1), created('c', -5));
    const { state } = await loadState(paths, silentLog);
    assert.deepStrictEqual(state, fleet.state);
  });
});
