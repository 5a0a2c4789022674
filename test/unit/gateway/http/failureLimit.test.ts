import assert from 'node:assert/strict';
import { FailureLimit } from '../../../../src/gateway/http/failureLimit.ts';

describe('the limit on failures', () => {
  it('lets 100 in a minute be judged for each subject, then says how long to wait, then begins anew', () => {
    let now = 5_000;
    const limit = new FailureLimit(() => now);
    const judged = (subject: string, times: number): number =>
      Array.from({ length: times }, () => limit.failed(subject)).filter((wait) => wait === undefined).length;
    const first = [judged('ada', 150), judged('bo', 1)];
    now += 20_500;
    const wait = limit.failed('ada');
    now += 39_500;
    assert.deepStrictEqual([first, wait, judged('ada', 150)], [[100, 1], '40', 100]);
  });

  it('remembers a thousand subjects, those that failed last', () => {
    const limit = new FailureLimit(() => 0);
    for (let index = 0; index < 101; index++) limit.failed('first');
    for (let index = 0; index < 999; index++) limit.failed(`subject ${index}`);
    const kept = limit.failed('first');
    for (let index = 0; index < 1_000; index++) limit.failed(`other ${index}`);
    assert.deepStrictEqual([kept, limit.failed('first')], ['60', undefined]);
  });
});
