import { deepStrictEqual } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { statePaths } from '../../../src/node/statePaths.ts';
import { removeUnfinishedFiles } from '../../../src/node/unfinishedFiles.ts';

describe('files that nobody finished writing', () => {
  it('go from the whole state directory when they are old; nothing else does', async () => {
    const paths = statePaths(mkdtempSync(join(tmpdir(), 'bowline-unfinished-')));
    try {
      const { directory, prompts } = paths.agent('ada');
      for (const one of [paths.contexts, paths.spool, prompts, `${paths.state}.of.a.person.tmp`]) {
        mkdirSync(one, { recursive: true });
      }
      const now = Date.now();
      const place = (path: string, ageMs: number): void => {
        writeFileSync(path, '');
        utimesSync(path, (now - ageMs) / 1000, (now - ageMs) / 1000);
      };
      const places = [paths.directory, paths.contexts, paths.spool, directory, prompts];
      for (const one of places) {
        place(join(one, `x.${'0'.repeat(18)}.tmp`), 7_200_000);
        place(join(one, `new.${'1'.repeat(18)}.tmp`), 60_000);
        place(join(one, 'kept'), 7_200_000);
      }
      utimesSync(`${paths.state}.of.a.person.tmp`, 1, 1);
      await removeUnfinishedFiles(paths, now, silentLog);
      const left = readdirSync(paths.directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() || entry.name.endsWith('person.tmp'))
        .map((entry) => relative(paths.directory, join(entry.parentPath, entry.name)));
      const expected = places.flatMap((one) => {
        return ['kept', `new.${'1'.repeat(18)}.tmp`].map((name) => relative(paths.directory, join(one, name)));
      });
      deepStrictEqual(left.sort(), [...expected, 'state.json.of.a.person.tmp'].sort());
    } finally {
      rmSync(paths.directory, { recursive: true });
    }
  });
});
