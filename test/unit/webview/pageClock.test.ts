import assert from 'node:assert/strict';
import { PageClock } from '../../../src/webview/pageClock.ts';
import { nextChangeIn, relativeTime } from '../../../src/webview/relativeTime.ts';

/** Time that passes on command (fake: a test cannot hide a page or wait for minutes). */
class ManualTime {
  now = 0;
  shown = true;
  pauses: number[] = [];
  private timers: { at: number; run: () => void }[] = [];

  readonly ports = {
    wall: () => this.now,
    visible: () => this.shown,
    later: (run: () => void, delay: number) => {
      const timer = { at: this.now + delay, run };
      this.pauses.push(delay);
      this.timers.push(timer);
      return { dispose: () => void (this.timers = this.timers.filter((one) => one !== timer)) };
    },
  };

  get waiting(): number {
    return this.timers.length;
  }

  pass(milliseconds: number): void {
    const end = this.now + milliseconds;
    for (;;) {
      const due = this.timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
      if (due === undefined) break;
      this.timers = this.timers.filter((timer) => timer !== due);
      this.now = due.at;
      due.run();
    }
    this.now = end;
  }
}

describe('clock of the page', () => {
  const hostOffset = 3_600_000;
  let time: ManualTime;
  let clock: PageClock;
  let texts: string[];

  /** Watches an instant of the host's clock as a text on the page does. */
  function watchAgo(at: number): { dispose(): void } {
    return clock.watch((now) => {
      texts.push(relativeTime(at, now));
      return nextChangeIn(at, now);
    });
  }

  beforeEach(() => {
    time = new ManualTime();
    clock = new PageClock(time.ports);
    clock.synchronise(hostOffset);
    texts = [];
  });

  it("goes on from the host's time by the local clock and says each age as it comes", () => {
    watchAgo(hostOffset);
    time.pass(3_000);
    assert.deepStrictEqual([clock.now(), texts], [hostOffset + 3_000, ['just now', '1 s ago', '2 s ago', '3 s ago']]);
  });

  it('wakes seldom when only old things are shown, and in time for a young one that joins', () => {
    watchAgo(hostOffset - 7_200_000);
    time.pass(120_000);
    const calm = time.pauses.splice(0);
    watchAgo(hostOffset + 120_000);
    time.pass(1_000);
    assert.deepStrictEqual([calm, time.pauses, texts.at(-1)], [[60_000, 60_000, 60_000], [1_000, 1_000], '1 s ago']);
  });

  it('lets no old thing that joins put off a young one', () => {
    watchAgo(hostOffset);
    watchAgo(hostOffset - 7_200_000);
    time.pass(1_000);
    assert.deepStrictEqual(texts, ['just now', '2 h ago', '1 s ago', '2 h ago']);
  });

  it('has one timer for many watchers and none without', () => {
    const watches = [1, 2, 3].map((age) => watchAgo(hostOffset - age * 1_000));
    const during = time.waiting;
    for (const watch of watches) watch.dispose();
    assert.deepStrictEqual([during, time.waiting], [1, 0]);
  });

  it('stands still while hidden and shows the present at once afterwards', () => {
    watchAgo(hostOffset);
    time.shown = false;
    clock.visibilityChanged();
    time.pass(90_000);
    const hidden = [...texts];
    time.shown = true;
    clock.visibilityChanged();
    assert.deepStrictEqual([hidden, texts, time.waiting], [['just now'], ['just now', '1 min ago'], 1]);
  });

  it('starts no timer for what joins while hidden', () => {
    time.shown = false;
    watchAgo(hostOffset);
    assert.deepStrictEqual([texts, time.waiting], [['just now'], 0]);
  });
});
