import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { readSpool, spooledAtMost, spoolReport } from '../../../src/node/hookSpool.ts';
import { hookReportSchema } from '../../../src/protocol/hookReport.ts';
import { type StatePaths, statePaths } from '../../../src/node/statePaths.ts';

describe('hook spool', () => {
  let paths: StatePaths;
  beforeEach(() => {
    paths = statePaths(mkdtempSync(join(tmpdir(), 'bowline-spool-')));
  });
  afterEach(() => {
    rmSync(paths.directory, { recursive: true });
  });
  const report = (at: number): Parameters<typeof spoolReport>[2] => ({
    at,
    launchId: 'l',
    hook: { event: 'SessionStart', sessionId: `id-${at}`, transcriptExists: false },
  });

  it('gives back each report with its agent, in the order of occurrence, from private files', async () => {
    spoolReport(paths, 'b-2', report(30));
    spoolReport(paths, 'a_1-x', report(9));
    spoolReport(paths, 'a', report(200));
    const spooled = await readSpool(paths, { parse: (value) => hookReportSchema.parse(value), log: silentLog });
    assert.deepStrictEqual(
      {
        reports: spooled.map((one) => [one.agent, one.report]),
        modes: spooled.map(({ path }) => statSync(path).mode & 0o777),
        files: readdirSync(paths.spool).length,
      },
      {
        reports: [
          ['a_1-x', report(9)],
          ['b-2', report(30)],
          ['a', report(200)],
        ],
        modes: [0o600, 0o600, 0o600],
        files: 3,
      },
    );
  });

  it('drops a damaged file alone', async () => {
    spoolReport(paths, 'ada', report(1));
    writeFileSync(join(paths.spool, 'ada-2-ff.json'), '{"at":');
    writeFileSync(join(paths.spool, 'ada-3-ff.json'), '{"at":3}');
    writeFileSync(join(paths.spool, 'launcher.json'), '{}');
    const spooled = await readSpool(paths, { parse: (value) => hookReportSchema.parse(value), log: silentLog });
    assert.deepStrictEqual(
      [spooled.map((one) => one.report.at), readdirSync(paths.spool).filter((name) => /-[23]-/.test(name))],
      [[1], []],
    );
  });

  it('never holds more than its limit: the oldest go', () => {
    spoolReport(paths, 'ada', report(1));
    for (let at = 2; at <= spooledAtMost; at++) writeFileSync(join(paths.spool, `ada-${at}-00.json`), '{}');
    spoolReport(paths, 'ada', report(5_000));
    const names = readdirSync(paths.spool);
    assert.deepStrictEqual(
      [
        names.length,
        names.some((name) => name.startsWith('ada-1-')),
        names.some((name) => name.startsWith('ada-5000-')),
      ],
      [spooledAtMost, false, true],
    );
  });
});
