import assert from 'node:assert/strict';
import { type ClockReading, HostClock, hostSlept } from '../../../src/gateway/hostClock.ts';

describe('host clock', () => {
  const before = { wall: 1_000_000, monotonic: 5_000 };
  const after = (wall: number, monotonic: number): boolean =>
    hostSlept(before, { wall: before.wall + wall, monotonic: before.monotonic + monotonic }, 2_000);

  it('tells a sleep, or a set clock, from a late tick', () => {
    assert.deepStrictEqual(
      {
        'on time': after(2_000, 2_000),
        'a busy machine': after(9_000, 9_000),
        'slept, monotonic stood still': after(1_200_000, 2_000),
        'slept, both went on': after(1_200_000, 1_200_000),
        'clock set back': after(-3_600_000, 2_000),
        'clock drifts': after(2_400, 2_000),
      },
      {
        'on time': false,
        'a busy machine': false,
        'slept, monotonic stood still': true,
        'slept, both went on': true,
        'clock set back': true,
        'clock drifts': false,
      },
    );
  });

  it('tells each sleep once', () => {
    let now: ClockReading = { wall: 0, monotonic: 0 };
    const told: number[] = [];
    const clock = new HostClock(
      2_000,
      () => told.push(now.wall),
      () => now,
    );
    for (const pause of [0, 600_000, 0, 0]) {
      now = { wall: now.wall + 2_000 + pause, monotonic: now.monotonic + 2_000 };
      clock.look();
    }
    assert.deepStrictEqual(told, [604_000]);
  });
});
