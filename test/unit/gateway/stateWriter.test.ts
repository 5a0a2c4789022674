import assert from 'node:assert/strict';
import { silentLog } from '../../../src/base/log.ts';
import { StateWriter } from '../../../src/gateway/stateWriter.ts';
import { FakeTimers } from '../../harness/gatewayTimers.ts';

/** A disk whose writes end when the test says so. */
class FakeDisk {
  readonly started: (() => void)[] = [];
  private readonly ends: ((error?: Error) => void)[] = [];
  count = 0;

  save = (): Promise<void> => {
    this.count++;
    return new Promise((resolve, reject) => {
      this.ends.push((error) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  };

  async end(error?: Error): Promise<void> {
    this.ends.shift()?.(error);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('StateWriter', () => {
  let disk: FakeDisk;
  let timers: FakeTimers;
  let writer: StateWriter;
  beforeEach(() => {
    disk = new FakeDisk();
    timers = new FakeTimers();
    writer = new StateWriter({ save: disk.save, log: silentLog, after: timers.after });
  });
  afterEach(() => {
    writer.dispose();
  });

  it('writes durable changes within 200 ms and lazy ones within a minute', () => {
    writer.changed('lazy');
    const lazy = timers.delays();
    writer.changed('durable');
    const durable = timers.delays();
    timers.fire();
    assert.deepStrictEqual({ lazy, durable, writes: disk.count }, { lazy: [60_000], durable: [150], writes: 1 });
  });

  it('has one write at a time, and all who wait meanwhile share the next', async () => {
    const settled: string[] = [];
    const flush = (name: string): void => {
      writer.changed('durable');
      void writer.flush().then(() => settled.push(name));
    };
    flush('first');
    flush('second');
    flush('third');
    const counts = [disk.count];
    await disk.end();
    counts.push(disk.count, settled.length);
    await disk.end();
    assert.deepStrictEqual(
      { counts, settled, count: disk.count },
      {
        counts: [1, 2, 1],
        settled: ['first', 'second', 'third'],
        count: 2,
      },
    );
  });

  it('resolves a flush at once when nothing changed', async () => {
    await writer.flush();
    assert.equal(disk.count, 0);
  });

  it('tells who waits that a write failed, and tries again', async () => {
    writer.changed('durable');
    const failed = assert.rejects(writer.flush(), /disk full/);
    await disk.end(new Error('disk full'));
    await failed;
    assert.deepStrictEqual(timers.delays(), [1_000]);
    timers.fire();
    const flushed = writer.flush();
    await disk.end();
    await flushed;
    assert.equal(disk.count, 2);
  });
});
