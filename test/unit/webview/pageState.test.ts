import assert from 'node:assert/strict';
import { type PageState, readPageState } from '../../../src/webview/pageState.ts';

describe('state of the page', () => {
  const initial = readPageState(undefined);

  it('comes back as it was kept', () => {
    const kept: PageState = {
      filter: { text: 'ada', scope: 'attention' },
      timeline: 'open',
      announced: { lost: { ada: ['gateway was away'] }, gateway: 'away' },
    };
    assert.deepStrictEqual(readPageState(structuredClone(kept)), kept);
  });

  it('is as at the first start where what was kept does not fit', () => {
    const odd = [null, 7, 'text', [], { filter: 7, timeline: 3, announced: [] }, { filter: { text: 1, scope: 'x' } }];
    for (const kept of odd) assert.deepStrictEqual(readPageState(kept), initial);
    assert.deepStrictEqual(readPageState({ announced: { lost: { ada: ['a', 7], bo: 'x' }, gateway: 1 } }).announced, {
      lost: { ada: ['a'] },
      gateway: 'here',
    });
  });
});
