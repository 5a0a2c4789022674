import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, rmdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonlLog } from '../../../src/node/jsonlLog.ts';

describe('JsonlLog', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'bowline-log-'));
    path = join(directory, 'gateway.jsonl');
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });
  const lines = (file: string): unknown[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line): unknown => JSON.parse(line));

  it('writes one private object per line, and goes on with an earlier file', () => {
    for (const run of [1, 2]) {
      const log = new JsonlLog(path, { now: () => 0 });
      log.info('line\nbreak', { run, none: undefined });
      log.dispose();
      log.error('after the end');
    }
    assert.deepStrictEqual(
      [lines(path), statSync(path).mode & 0o777],
      [[1, 2].map((run) => ({ time: '1970-01-01T00:00:00.000Z', level: 'info', message: 'line\nbreak', run })), 0o600],
    );
  });

  it('keeps the last two files within the limit', () => {
    const log = new JsonlLog(path, { rotateAt: 1000 });
    for (let count = 0; count < 100; count++) log.debug('x', { count });
    log.dispose();
    const kept = [...lines(`${path}.1`), ...lines(path)];
    assert.ok(statSync(path).size <= 1000 && statSync(`${path}.1`).size <= 1000);
    assert.deepStrictEqual(
      kept.map((entry) => typeof entry === 'object' && entry !== null && 'count' in entry && entry.count),
      Array.from({ length: kept.length }, (_, index) => 100 - kept.length + index),
    );
  });

  it('drops what the disk refuses, and says how much when it can', () => {
    mkdirSync(path);
    const log = new JsonlLog(path, { now: () => 0 });
    log.warn('lost');
    log.warn('lost');
    rmdirSync(path);
    log.warn('kept');
    log.dispose();
    assert.deepStrictEqual(lines(path), [
      { time: '1970-01-01T00:00:00.000Z', level: 'warn', message: 'kept', dropped: 2 },
    ]);
  });
});
