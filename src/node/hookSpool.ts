import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { HookReport } from '../protocol/hookReport.ts';
import type { StatePaths } from './statePaths.ts';

/** Files that may wait; beyond that the oldest go. */
export const spooledAtMost = 1_000;

/** `<agent>-<milliseconds since 1970>-<random>.json`, one report each. */
const filePattern = /^([a-z0-9][a-z0-9_-]{0,31})-(\d+)-[0-9a-f]+\.json$/;

/** A report that waits in the spool. */
export interface SpooledReport {
  readonly path: string;
  readonly agent: string;
  readonly report: HookReport;
}

/**
 * Keeps a report for a gateway that is away. Blocks, and is visible to readers before it is synced: a hook has little
 * time, and after a loss of power the worst is one damaged file that is dropped alone.
 */
export function spoolReport(paths: StatePaths, agent: string, report: HookReport): void {
  mkdirSync(paths.spool, { recursive: true, mode: 0o700 });
  dropOldest(paths, spooledAtMost - 1);
  const name = `${agent}-${Math.round(report.at)}-${randomBytes(6).toString('hex')}.json`;
  const temporary = join(paths.spool, `.${name}.tmp`);
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(file, `${JSON.stringify(report)}\n`);
    renameSync(temporary, join(paths.spool, name));
    fsyncSync(file);
  } finally {
    closeSync(file);
    rmSync(temporary, { force: true });
  }
}

/**
 * What waits, oldest first. A file that `parse` throws at is damaged: removed and logged. The schema comes from the caller,
 * because the hook, which only writes, has no time to build the schemas of the whole fleet.
 */
export async function readSpool(
  paths: StatePaths,
  { parse, log }: { readonly parse: (value: unknown) => HookReport; readonly log: Log },
): Promise<readonly SpooledReport[]> {
  const reports: SpooledReport[] = [];
  for (const name of sortedByTime(await readdir(paths.spool))) {
    const path = join(paths.spool, name);
    const agent = filePattern.exec(name)?.[1];
    if (agent === undefined) continue;
    try {
      const report = parse(JSON.parse(await readFile(path, 'utf8')));
      reports.push({ path, agent, report });
    } catch (error) {
      log.warn('a damaged report in the spool was dropped', { file: name, reason: messageOf(error).slice(0, 200) });
      await rm(path, { force: true });
    }
  }
  return reports;
}

function dropOldest(paths: StatePaths, keep: number): void {
  const names = sortedByTime(readdirSync(paths.spool));
  for (const name of names.slice(0, Math.max(0, names.length - keep))) rmSync(join(paths.spool, name), { force: true });
}

function sortedByTime(names: readonly string[]): readonly string[] {
  const timeOf = (name: string): number => Number(filePattern.exec(name)?.[2]);
  return names.filter((name) => filePattern.test(name)).sort((left, right) => timeOf(left) - timeOf(right));
}
