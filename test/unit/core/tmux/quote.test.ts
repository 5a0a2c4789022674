import assert from 'node:assert/strict';
import { BowlineError } from '../../../../src/base/errors.ts';
import { commandLine, quoteArgument } from '../../../../src/core/tmux/quote.ts';

describe('tmux quoting', () => {
  it('escapes what tmux reads in double quotes, and everything that a terminal would edit', () => {
    assert.deepStrictEqual(
      ['', 'a;', '$HOME "x" \\', '~', 'a\nb\t\u0003\u007f', "it's é🎉 #{pid}"].map(quoteArgument),
      ['""', '"a;"', '"\\$HOME \\"x\\" \\\\"', '"\\176"', '"a\\012b\\011\\003\\177"', '"it\'s é🎉 #{pid}"'],
    );
  });

  it('joins commands to one line', () => {
    assert.equal(
      commandLine([['kill-session', '-t', '$1'], ['list-panes']]),
      '"kill-session" "-t" "\\$1" ; "list-panes"',
    );
  });

  it('refuses what no process argument can hold', () => {
    for (const text of ['a\0b', '\ud83c', 'x\udf89']) {
      assert.throws(
        () => quoteArgument(text),
        (error) => error instanceof BowlineError && error.code === 'bad-request',
      );
    }
  });
});
