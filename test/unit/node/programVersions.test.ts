import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../../../src/base/log.ts';
import {
  compareVersions,
  extensionVersionOf,
  isInstalled,
  isVersionName,
  programNames,
  removeUnusedVersions,
} from '../../../src/node/programVersions.ts';
import { type StatePaths, statePaths } from '../../../src/node/statePaths.ts';

/** A name as the installation makes it; `digest` is repeated to eight digits. */
const named = (version: string, digest = 'a'): string => `${version}-${digest.repeat(8)}`;

describe('names of versions', () => {
  it('are ordered by the numbers of the extension, whatever the content', () => {
    const pairs: [string, string][] = [
      ['0.1.0', '0.1.0'],
      ['0.1.0', '0.1.1'],
      ['0.9.0', '0.10.0'],
      ['1.0', '1.0.0'],
      ['1.0.0-beta', '1.0.0'],
      ['1.0.0-beta.2', '1.0.0-beta.10'],
      ['2.0.0', '10.0.0-alpha'],
      ['test', '0.0.1'],
    ];
    assert.deepStrictEqual(
      pairs.map(([left, right]) => [
        left,
        right,
        Math.sign(compareVersions(named(left), named(right, 'b'))),
        Math.sign(compareVersions(named(right, 'b'), named(left))),
      ]),
      [
        ['0.1.0', '0.1.0', 0, 0],
        ['0.1.0', '0.1.1', -1, 1],
        ['0.9.0', '0.10.0', -1, 1],
        ['1.0', '1.0.0', 0, 0],
        ['1.0.0-beta', '1.0.0', -1, 1],
        ['1.0.0-beta.2', '1.0.0-beta.10', -1, 1],
        ['2.0.0', '10.0.0-alpha', -1, 1],
        ['test', '0.0.1', -1, 1],
      ],
    );
  });

  it('are no paths', () => {
    const names = ['1.2.3-0123abcd', '../x-0123abcd', 'a/b-0123abcd', '.x-0123abcd', '1.2.3', 'current', '', '..'];
    assert.deepStrictEqual(
      [names.filter(isVersionName), extensionVersionOf('1.2.3-rc.1-0123abcd'), extensionVersionOf('elsewhere')],
      [['1.2.3-0123abcd'], '1.2.3-rc.1', 'elsewhere'],
    );
  });
});

describe('removal of versions', () => {
  let paths: StatePaths;
  const said: string[] = [];
  const take = (message: string): void => {
    said.push(message);
  };
  const log: Log = { debug: take, info: take, warn: take, error: take };
  const hour = 60 * 60 * 1000;

  beforeEach(async () => {
    paths = statePaths(mkdtempSync(join(tmpdir(), 'bowline-versions-')));
    await mkdir(paths.versions);
    said.length = 0;
  });
  afterEach(() => {
    rmSync(paths.directory, { recursive: true, force: true });
  });

  async function place(name: string, options: { readonly ageMs?: number } = {}): Promise<void> {
    const directory = join(paths.versions, name);
    await mkdir(directory);
    for (const program of programNames) await writeFile(join(directory, program), '');
    const time = new Date(Date.now() - (options.ageMs ?? 2 * hour));
    await utimes(directory, time, time);
  }

  const remove = (inUse: readonly string[] = []): Promise<readonly string[]> =>
    removeUnusedVersions({ paths, running: named('2.0.0'), inUse, now: Date.now(), log });

  const cases: { readonly what: string; readonly name: string; readonly removed: boolean; readonly ageMs?: number }[] =
    [
      { what: 'an older one', name: named('1.0.0'), removed: true },
      { what: 'other content of the running version', name: named('2.0.0', 'b'), removed: true },
      { what: 'the running one', name: named('2.0.0'), removed: false },
      { what: 'a newer one', name: named('2.0.1'), removed: false },
      { what: 'the one of the holder', name: named('1.1.0', 'b'), removed: false },
      { what: 'the one that current names', name: named('1.2.0', 'c'), removed: false },
      { what: 'one that an agent was started with', name: named('1.3.0', 'd'), removed: false },
      { what: 'one installed a moment ago', name: named('1.4.0', 'e'), removed: false, ageMs: hour / 2 },
      { what: 'what a killed installation left', name: `.${'0'.repeat(18)}.tmp`, removed: true },
      { what: 'an installation under way', name: `.${'1'.repeat(18)}.tmp`, removed: false, ageMs: 1000 },
      { what: 'a directory of somebody', name: 'keep-this', removed: false },
      { what: 'a hidden directory', name: '.git', removed: false },
    ];
  for (const { what, name, removed, ageMs } of cases) {
    it(`${removed ? 'takes' : 'leaves'} ${what}`, async () => {
      await place(name, ageMs === undefined ? {} : { ageMs });
      await writeFile(paths.currentVersion, `${named('1.2.0', 'c')}\n`);
      const { directory, settings } = paths.agent('ada');
      await mkdir(directory, { recursive: true });
      await writeFile(settings, JSON.stringify({ command: `${paths.versions}/${named('1.3.0', 'd')}/hook.js` }));
      const names = await remove([named('1.1.0', 'b')]);
      const left = (await readdir(paths.versions)).filter((one) => one !== 'current');
      assert.deepStrictEqual([names, left], removed ? [[name], []] : [[], [name]]);
    });
  }

  it('leaves files and links, also with the name of a version', async () => {
    await writeFile(join(paths.versions, named('1.0.0')), '');
    const elsewhere = join(paths.directory, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(elsewhere, join(paths.versions, named('1.0.0', 'b')));
    const old = new Date(Date.now() - 2 * hour);
    await utimes(elsewhere, old, old);
    assert.deepStrictEqual(
      [await remove(), (await readdir(paths.versions)).length, (await readdir(paths.directory)).includes('elsewhere')],
      [[], 2, true],
    );
  });

  it('only logs when it cannot look, and then takes nothing', async () => {
    await writeFile(paths.agents, '');
    await place(named('1.0.0'));
    assert.deepStrictEqual(
      [await remove(), await readdir(paths.versions), said],
      [[], [named('1.0.0')], ['unused versions cannot be looked for']],
    );
  });

  it('knows an installed version by all of its programs', async () => {
    await place(named('1.0.0'));
    await place(named('1.1.0'));
    rmSync(join(paths.versions, named('1.1.0'), 'hook.js'));
    const names = [named('1.0.0'), named('1.1.0'), named('1.2.0'), '..', '../versions'];
    assert.deepStrictEqual(await Promise.all(names.map((name) => isInstalled(paths, name))), [
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
