import assert from 'node:assert/strict';
import { afterUnwantedEnd, type RestartHistory, restartWait } from '../../../../src/gateway/upstream/pipeRestarts.ts';

describe('restarts of a stdio server', () => {
  it('come at once after one end, then later and later', () => {
    let history: RestartHistory | undefined;
    const waits: number[] = [];
    for (let endedAt = 1000; endedAt < 10_000; endedAt += 1000) {
      history = afterUnwantedEnd(history, { startedAt: endedAt - 10, endedAt });
      waits.push(restartWait(history, endedAt));
    }
    assert.deepStrictEqual(waits, [0, 250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000]);
    assert.equal(restartWait({ failures: 5000, endedAt: 0 }, 0), 30_000);
  });

  it('begin anew after a run that was sound, and count the time that went by', () => {
    const history = { failures: 4, endedAt: 10_000 };
    assert.deepStrictEqual(
      [
        restartWait(history, 10_600),
        restartWait(history, 20_000),
        restartWait(history, 0), // the clock was set back
        afterUnwantedEnd(history, { startedAt: 11_000, endedAt: 71_000 }),
        afterUnwantedEnd(history, { startedAt: 11_000, endedAt: 70_999 }).failures,
        afterUnwantedEnd(history, { startedAt: 9000, endedAt: 10_001 }), // of another session, ended at the same time
      ],
      [400, 0, 1000, { failures: 1, endedAt: 71_000 }, 5, { failures: 4, endedAt: 10_001 }],
    );
  });
});
