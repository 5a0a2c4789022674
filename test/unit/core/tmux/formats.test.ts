import assert from 'node:assert/strict';
import fc from 'fast-check';
import { paneFormat, paneSubscriptionFormat, parsePane } from '../../../../src/core/tmux/formats.ts';

/** What tmux does for `q:` (format_quote_shell of tmux 3.3a). */
const escaped = (text: string): string => text.replace(/[|&;<>()$`\\"'*?[# =%]/g, '\\$&');

describe('tmux pane formats', () => {
  it('reads a living, an ended and a killed pane as tmux 3.3a writes them', () => {
    const lines = [
      '$0 @0 %0 9361 0    _bowline',
      '$1 @1 %1 9365 1 3  l-1 a\\ b\\;c',
      '$2 @2 %12 9369 1  9 x\\ y\\\\ agent-1',
    ];
    assert.deepStrictEqual(lines.map(parsePane), [
      { sessionId: '$0', sessionName: '_bowline', windowId: '@0', paneId: '%0', pid: 9361, dead: false, launchId: '' },
      {
        sessionId: '$1',
        sessionName: 'a b;c',
        windowId: '@1',
        paneId: '%1',
        pid: 9365,
        dead: true,
        deadStatus: 3,
        launchId: 'l-1',
      },
      {
        sessionId: '$2',
        sessionName: 'agent-1',
        windowId: '@2',
        paneId: '%12',
        pid: 9369,
        dead: true,
        deadSignal: '9',
        launchId: 'x y\\',
      },
    ]);
  });

  it('leaves out what is no pane', () => {
    assert.deepStrictEqual(
      ['', 'x', '$1 @1 %1', '1 @1 %1 5 0    a', '$1 @1 %1 5 0    a b'].map(parsePane),
      Array<undefined>(5).fill(undefined),
    );
  });

  it('keeps any name and any launch id apart', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (launchId, sessionName) => {
        const record = `$1 @2 %3 4 1 0  ${escaped(launchId)} ${escaped(sessionName)}`;
        const pane = {
          sessionId: '$1',
          sessionName,
          windowId: '@2',
          paneId: '%3',
          pid: 4,
          dead: true,
          deadStatus: 0,
          launchId,
        };
        assert.deepStrictEqual(parsePane(record), pane);
      }),
    );
  });

  it('never holds a comma outside of a condition, where it would begin another format in a loop', () => {
    const withoutConditions = paneSubscriptionFormat.replace(/#\{\?(?:[^{}]|\{[^{}]*\})*\}/gu, '');
    assert.deepStrictEqual([paneFormat.includes(','), withoutConditions.includes(',')], [false, false]);
  });
});
