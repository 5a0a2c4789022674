import assert from 'node:assert/strict';
import { listNames } from '../../../src/webview/names.ts';

describe('list of names', () => {
  it('joins names and counts those beyond the limit', () => {
    const lists = [[], ['ada'], ['ada', 'bo'], ['ada', 'bo', 'cy'], ['ada', 'bo', 'cy', 'di', 'ed']];
    assert.deepStrictEqual(
      lists.map((names) => listNames(names, 3)),
      ['', 'ada', 'ada and bo', 'ada, bo and cy', 'ada, bo, cy and 2 more'],
    );
  });
});
