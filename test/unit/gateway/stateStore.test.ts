import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { reduceAll } from '../../../src/core/fleet/reduce.ts';
import { emptyFleet, type FleetState } from '../../../src/core/fleet/state.ts';
import { loadState, previousStatePath, saveState } from '../../../src/gateway/stateStore.ts';
import { type StatePaths, statePaths } from '../../../src/node/statePaths.ts';

function fleetOf(...names: string[]): FleetState {
  const configuration = { directory: '/d', extraArguments: [], environment: {}, servers: {} };
  return reduceAll(names.map((name, at) => ({ at, kind: 'agent created', name, configuration })));
}

describe('state store', () => {
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
  const quarantined = (): string[] => readdirSync(paths.directory).filter((name) => name.includes('.damaged-'));

  it('begins with an empty fleet', async () => {
    assert.deepStrictEqual(await loadState(paths, silentLog), { state: emptyFleet, notices: [] });
  });

  it('gives back what was saved, and keeps the state before it', async () => {
    for (const names of [['a'], ['a', 'b'], ['a', 'b', 'c']]) await saveState(paths, fleetOf(...names));
    const { state } = await loadState(paths, silentLog);
    assert.deepStrictEqual(
      [state, JSON.parse(readFileSync(previousStatePath(paths), 'utf8')), readdirSync(paths.directory).sort()],
      [fleetOf('a', 'b', 'c'), fleetOf('a', 'b'), ['state.json', 'state.json.previous']],
    );
  });

  it('goes on after a crash between keeping the former state and writing the new one', async () => {
    await saveState(paths, fleetOf('a'));
    writeFileSync(`${previousStatePath(paths)}.tmp`, 'left behind');
    await saveState(paths, fleetOf('a', 'b'));
    assert.deepStrictEqual(await load(), { agents: ['a', 'b'], codes: [], sentences: '' });
  });

  for (const [name, text] of [
    ['torn', '{"format":1,"agents":{'],
    ['empty', ''],
    ['of the wrong shape', '{"format":1,"agents":[]}'],
  ] as const) {
    it(`puts a state file aside that is ${name}, uses the one before it and says so`, async () => {
      await saveState(paths, fleetOf('a'));
      await saveState(paths, fleetOf('a', 'b'));
      writeFileSync(paths.state, text);
      const loaded = await load();
      const [kept = ''] = quarantined();
      assert.deepStrictEqual(
        {
          ...loaded,
          sentences: loaded.sentences.includes(kept),
          kept: readFileSync(join(paths.directory, kept), 'utf8'),
        },
        { agents: ['a'], codes: ['state-damaged'], sentences: true, kept: text },
      );
    });
  }

  it('uses the state before when the file is gone', async () => {
    await saveState(paths, fleetOf('a'));
    await saveState(paths, fleetOf('a', 'b'));
    rmSync(paths.state);
    const { agents, codes } = await load();
    assert.deepStrictEqual({ agents, codes }, { agents: ['a'], codes: ['state-missing'] });
  });

  it('picks out the agents that are whole when neither file is', async () => {
    const state = fleetOf('a', 'b', 'c');
    const damaged = { ...state, agents: { ...state.agents, b: { ...state.agents['b'], launchCount: 'x' } } };
    writeFileSync(paths.state, JSON.stringify(damaged));
    writeFileSync(previousStatePath(paths), '');
    const { agents, codes, sentences } = await load();
    assert.deepStrictEqual(
      { agents, codes, counted: sentences.includes('1 damaged') },
      { agents: ['a', 'c'], codes: ['state-damaged'], counted: true },
    );
  });

  it('says so when nothing can be read, instead of being silently empty', async () => {
    writeFileSync(paths.state, 'x');
    const { agents, codes } = await load();
    assert.deepStrictEqual(
      { agents, codes, kept: quarantined().length },
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

  it('refuses the state of a newer Bowline and leaves it alone', async () => {
    writeFileSync(paths.state, '{"format":2}');
    await assert.rejects(load(), { code: 'state-unreadable', message: /newer Bowline \(format 2/ });
    assert.deepStrictEqual(readdirSync(paths.directory), ['state.json']);
  });
});
