import { deepStrictEqual } from 'node:assert/strict';
import { canonicalPrompt, longestPrompt, readPromptText, showsPrompt } from '../../../../src/core/claude/promptText.ts';

describe('the text of a prompt', () => {
  const taken: readonly (readonly [string, string])[] = [
    ['hello', 'hello'],
    ['\n\n  one\r\ntwo\rthree \n\n', '  one\ntwo\nthree'],
    ['# heading\n\ttabs', '# heading\n\ttabs'],
    ['see @app.ts, then run `ls /`!', 'see @app.ts, then run `ls /`!'],
    ['ünïcödé 你好 🎉', 'ünïcödé 你好 🎉'],
  ];
  it('is taken as it is, but for its ends and the kind of its line ends', () => {
    deepStrictEqual(
      taken.map(([given]) => readPromptText(given)),
      taken.map(([, text]) => ({ ok: true, text })),
    );
  });

  const refused: readonly (readonly [string, RegExp])[] = [
    ['', /empty/],
    [' \n\t ', /empty/],
    ['x'.repeat(longestPrompt + 1), /has 100001 characters, at most 100000/],
    ['a\u001b[201~\rb', /control characters/],
    ['a\u0003', /control characters/],
    ['a\u009b', /control characters/],
    ['half \ud83d', /control characters/],
    ['/compact', /begins with "\/".*Put a word before it/],
    ['  !rm -r x', /begins with "!"/],
  ];
  it('is refused, with what would do, where it would act as keys or as a command', () => {
    deepStrictEqual(
      refused.filter(([given, sentence]) => {
        const reading = readPromptText(given);
        return reading.ok || !sentence.test(reading.sentence);
      }),
      [],
    );
  });

  it('is known in the input line: broken lines, and the placeholder of a long paste', () => {
    const long = 'a\nb\nc\nd';
    deepStrictEqual(
      [
        showsPrompt('one\ntwo', 'one two'),
        showsPrompt('first line\n  second', 'first line\n\n  second'),
        showsPrompt('[Pasted text #7 +3 lines]', long),
        showsPrompt('[Pasted text #7 +2 lines]', long),
        showsPrompt('[Pasted text #1]', 'x'.repeat(900)),
        showsPrompt('[Pasted text #1] and more', 'x'.repeat(900)),
        showsPrompt('one two three', 'one two'),
        showsPrompt('', 'one'),
      ],
      [true, true, true, false, true, false, false, false],
    );
  });

  it('is the same for the sender and in the words of the hook', () => {
    const sent = 'a\n\n\tb\nc';
    const told = ['a\n\n    b\nc ', `\n\n<pasted_content id="b9e3">\n${sent}\n</pasted_content id="b9e3">\n`];
    deepStrictEqual(
      told.map((text) => canonicalPrompt(text) === canonicalPrompt(sent)),
      [true, true],
    );
  });
});
