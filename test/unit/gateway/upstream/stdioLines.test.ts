import assert from 'node:assert/strict';
import { StdioLines } from '../../../../src/gateway/upstream/stdioLines.ts';

describe('lines of a process', () => {
  const read = (chunks: readonly (string | Buffer)[], longest = 100): string[] => {
    const told: string[] = [];
    const lines = new StdioLines(longest, {
      line: (text) => told.push(text),
      dropped: (reason) => told.push(`(${reason})`),
    });
    for (const chunk of chunks) lines.push(Buffer.from(chunk));
    lines.end();
    return told;
  };

  it('are the same however they are cut', () => {
    const text = Buffer.from('{"a":"π €  🦀"}\r\n\n\r\n{"b":1}\nlast');
    const expected = ['{"a":"π €  🦀"}', '{"b":1}', 'last'];
    for (let size = 1; size <= text.length; size++) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.subarray(at * size, (at + 1) * size),
      );
      assert.deepStrictEqual(read(chunks), expected, `in pieces of ${size}`);
    }
  });

  it('are dropped alone where they are too long or not UTF-8', () => {
    const long = 'x'.repeat(101);
    assert.deepStrictEqual(
      [
        read(['a\n', long.slice(0, 50), long.slice(50), '\nb\n']),
        read([Buffer.from([0x61, 0x0a, 0xff, 0xfe, 0x0a, 0x62, 0x0a])]),
        read([`${'x'.repeat(100)}\n`]).map(({ length }) => length),
      ],
      [['a', '(has 101 bytes, and 100 are taken)', 'b'], ['a', '(is not UTF-8)', 'b'], [100]],
    );
  });
});
