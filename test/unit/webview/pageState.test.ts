import assert from 'node:assert/strict';
import { type PageState, readPageState } from '../../../src/webview/pageState.ts';

describe('state of the page', () => {
  const initial = readPageState(undefined);

  it('comes back as it was kept', () => {
    const kept: PageState = {
      filter: { text: 'ada', scope: 'attention' },
      selected: { agent: 'ada', server: 'bowline-self' },
      timeline: 'open',
      events: 'binding',
      scroll: 120,
      announced: { lost: { ada: ['gateway was away'] }, gateway: 'away' },
    };
    for (const state of [kept, { ...kept, selected: 'nothing' as const }, { ...kept, selected: { agent: 'bo' } }]) {
      assert.deepStrictEqual(readPageState(structuredClone(state)), state);
    }
  });

  it('is as at the first start where what was kept does not fit', () => {
    const odd = [
      null,
      7,
      'text',
      [],
      { filter: 7, timeline: 3, announced: [] },
      { filter: { text: 1, scope: 'x' } },
      { selected: { agent: 7 }, scroll: '9', events: 'x' },
    ];
    for (const kept of odd) assert.deepStrictEqual(readPageState(kept), initial);
    assert.deepStrictEqual(readPageState({ announced: { lost: { ada: ['a', 7], bo: 'x' }, gateway: 1 } }).announced, {
      lost: { ada: ['a'] },
      gateway: 'here',
    });
  });
});
