import assert from 'node:assert/strict';
import fc from 'fast-check';
import { clockTime, nextChangeIn, relativeTime } from '../../../src/webview/relativeTime.ts';

describe('relative time', () => {
  it('tells the age in the first unit that fits', () => {
    const now = 1_000_000_000_000;
    const ages = [-5_000, 0, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 86_400_000, 200_000_000];
    assert.deepStrictEqual(
      ages.map((age) => relativeTime(now - age, now)),
      [
        'just now',
        'just now',
        'just now',
        '1 s ago',
        '59 s ago',
        '1 min ago',
        '59 min ago',
        '1 h ago',
        '23 h ago',
        '1 d ago',
        '2 d ago',
      ],
    );
  });

  it('knows when it will say something else: not before, and then surely', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400_000_000 }), (age) => {
        const change = nextChangeIn(0, age);
        assert.ok(change >= 1);
        assert.equal(relativeTime(0, age + change - 1), relativeTime(0, age));
        assert.notEqual(relativeTime(0, age + change), relativeTime(0, age));
      }),
    );
  });

  it('tells the time of day, and the date only of another day', () => {
    const at = new Date(2026, 2, 1, 9, 5, 7).getTime();
    assert.deepStrictEqual(
      [clockTime(at, new Date(2026, 2, 1, 23, 59).getTime()), clockTime(at, new Date(2026, 2, 2, 0, 1).getTime())],
      ['09:05:07', '2026-03-01 09:05:07'],
    );
  });
});
