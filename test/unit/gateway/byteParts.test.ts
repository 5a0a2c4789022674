import assert from 'node:assert/strict';
import { ByteParts } from '../../../src/gateway/byteParts.ts';
import { EventSplitter } from '../../../src/gateway/upstream/httpEvents.ts';
import { StdioLines } from '../../../src/gateway/upstream/stdioLines.ts';

const count = 2_000_000;

/** What is on the heap after one byte came so often, in MB. */
function heapAfter(take: (part: Buffer) => void): number {
  const before = process.memoryUsage().heapUsed;
  const packet = Buffer.alloc(1_000, 'x');
  for (let index = 0; index < count; index++) take(packet.subarray(index % 1_000, (index % 1_000) + 1));
  return (process.memoryUsage().heapUsed - before) / 1024 / 1024;
}

describe('bytes that come in parts', () => {
  it('are whole again, whatever the parts are', () => {
    const whole = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    for (const size of [1, 7, 1_000, 4_096, 299_999, 300_000]) {
      const parts = new ByteParts();
      for (let at = 0; at < whole.length; at += size) parts.add(whole.subarray(at, at + size));
      assert.equal(parts.size, whole.length);
      assert.ok(parts.take().equals(whole), `in parts of ${size}`);
      assert.deepStrictEqual([parts.size, parts.take().length], [0, 0]);
    }
  });

  it('one by one take no object each, in events and in lines', () => {
    const splitter = new EventSplitter();
    let line = '';
    const lines = new StdioLines(count, { line: (text) => (line = text), dropped: (reason) => (line = reason) });
    const heap = [
      heapAfter((part) => splitter.push(part)),
      heapAfter((part) => {
        lines.push(part);
      }),
    ];
    lines.end();
    assert.deepStrictEqual(
      [splitter.push(Buffer.from('\n\n'))?.map(({ length }) => length), line.length],
      [[count + 2], count],
    );
    // One object for each byte is more than 150 MB.
    assert.ok(
      heap.every((megabytes) => megabytes < 80),
      `${heap.join(' MB, ')} MB`,
    );
  });
});
