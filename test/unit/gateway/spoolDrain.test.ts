import { deepStrictEqual } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import type { FleetEvent } from '../../../src/core/fleet/events.ts';
import { SpoolDrain } from '../../../src/gateway/spoolDrain.ts';
import { spoolReport } from '../../../src/node/hookSpool.ts';
import { statePaths } from '../../../src/node/statePaths.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('the spool', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'bowline-spool-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it('is taken in before the disk answers, oldest first, and emptied once the reports are on disk', async () => {
    const paths = statePaths(directory);
    mkdirSync(paths.spool, { recursive: true });
    // The last two by a clock that was ahead: they keep their order.
    for (const at of [3_000, 30_000, 1_000, 20_000]) {
      const hook = { event: 'UserPromptSubmit', sessionId: `s${at}`, transcriptExists: true } as const;
      spoolReport(paths, 'ada', { at, launchId: 'ada.1', hook });
    }
    writeFileSync(join(paths.spool, 'ada-5-0a.json'), '{');
    const told: number[] = [];
    let written = (): void => undefined;
    const disk = new Promise<void>((resolve) => {
      written = resolve;
    });
    const report = ({ at }: FleetEvent): void => void told.push(at);
    const fleet = {
      state: {} as never,
      report,
      reportDurably: (event: FleetEvent) => {
        report(event);
        return disk;
      },
    };
    const drain = new SpoolDrain({ fleet, paths, clock: () => 4_000, log: silentLog });
    try {
      await drain.begun;
      deepStrictEqual([told, readdirSync(paths.spool).length], [[1_000, 3_000, 3_999, 4_000], 4]);
      written();
      await waitFor('an empty spool', () => readdirSync(paths.spool).length === 0);
    } finally {
      drain.dispose();
    }
  });
});
