import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { commonAtLeast, redactor, type Secrets } from '../../../../src/core/diagnostics/redact.ts';

const none: Secrets = { keys: [], texts: [], values: [], home: '/home/ada' };

/** Not cut within a character. */
function isWhole(part: string): boolean {
  return !/\p{Surrogate}/u.test(part);
}

describe('redaction', () => {
  it('takes out keys by their form, whosever they are, and shortens paths', () => {
    const redact = redactor(none);
    const lines = [
      ['authorization: Bearer abc.def-ghi', 'authorization: Bearer <key>'],
      ['x-api-key="sk-ant-api03-abcdefgh12345"', 'x-api-key="<key>"'],
      [String.raw`{"body":"{\"token\":\"abc\"}"}`, String.raw`{"body":"{\"token\":\"<key>\"}"}`],
      ['mcp-session-id: 0f3e2d1c-aaaa', 'mcp-session-id: <key>'],
      ['key qR7_tyUiOpAsDfGhJkLzXcVbNm1234567890qwertyu end', 'key <key> end'],
      ['GET https://me:pw@example.org/x?password=hunter2', 'GET https://<key>@example.org/x?password=<key>'],
      ['mail ada@example.org', 'mail <address>'],
      ['at /home/ada/work and /home/bo/work, /Users/cy/x', 'at ~/work and /home/<user>/work, /Users/<user>/x'],
      ['~/.claude/projects/-home-ada-work', '~/.claude/projects/-~-work'],
      [
        '11111111-2222-4333-8444-555555555555 state-of-the-art',
        '11111111-2222-4333-8444-555555555555 state-of-the-art',
      ],
    ];
    deepStrictEqual(
      lines.map(([input]) => redact(input ?? '')),
      lines.map(([, output]) => output),
    );
  });

  it('takes out a text also where it is cut, escaped or on one line, and a short one only as a word', () => {
    const text = 'Please rename\nthe "quarterly figures" of the Hamburg office';
    const redact = redactor({ ...none, texts: [text, 'go on'], values: ['s3cr3t', 'auto'] });
    deepStrictEqual(
      [
        redact(`prompt=${JSON.stringify(text)}`),
        redact(`failed: ${text.slice(3, 30)}...`),
        redact(`it said ${text.replaceAll(/\s+/g, ' ')}.`),
        redact(`url?q=${encodeURIComponent(text)}&x=1`),
        redact('go on; ergo onward; s3cr3t; auto'),
      ],
      [
        'prompt="<text>"',
        'failed: <text>...',
        'it said <text>.',
        'url?q=<text>&x=1',
        '<text>; ergo onward; <text>; auto',
      ],
    );
  });

  it('lets nothing of a key, a token or a prompt through, wherever it stands', () => {
    const key = fc.stringMatching(/^[A-Za-z0-9_-]{43}$/);
    const sessionId = fc.uuid();
    const text = fc.oneof(
      fc.string({ minLength: commonAtLeast, maxLength: 200, unit: 'binary' }),
      fc.lorem({ maxCount: 30 }).filter((one) => one.length >= commonAtLeast),
      fc
        .array(fc.constantFrom('ab', ' ', '\n', '"', '\\', 'é', '€'), { minLength: 30, maxLength: 300 })
        .map((parts) => {
          return `x${parts.join('')}x`;
        }),
    );
    const filler = fc.string({ maxLength: 30 });
    const spell = fc.constantFrom<(part: string) => string>(
      (part) => part,
      (part) => JSON.stringify(part),
      (part) => JSON.stringify({ time: 1, message: 'm', reason: part }),
      (part) => encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, '\uFFFD')),
      (part) => part.replaceAll(/\s+/g, ' '),
    );
    fc.assert(
      fc.property(
        fc.array(key, { minLength: 1, maxLength: 3 }),
        fc.array(sessionId, { maxLength: 2 }),
        fc.array(text, { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(filler, fc.nat(), fc.nat(), fc.nat(), spell), { minLength: 1, maxLength: 8 }),
        (keys, ids, texts, places) => {
          const all = [...keys, ...ids, ...texts];
          const input = places.map(([before, which, from, length, spelled]) => {
            const whole = all[which % all.length] ?? '';
            const isText = texts.includes(whole);
            // A log may hold a part of a text; a part of a key opens nothing.
            const start = isText ? from % (whole.length - commonAtLeast + 1) : 0;
            const end = isText ? start + commonAtLeast + (length % (whole.length - start)) : whole.length;
            const part = whole.slice(start, end);
            return `${before} ${spelled(isWhole(part) ? part : whole)}`;
          });
          const output = redactor({ ...none, keys: [...keys, ...ids], texts })(input.join('\n'));
          const leaks = [
            ...[...keys, ...ids].filter((one) => output.includes(one)),
            ...texts.flatMap((one) => {
              const windows = Math.max(0, one.length - commonAtLeast + 1);
              return Array.from({ length: windows }, (_, at) => one.slice(at, at + commonAtLeast)).filter((part) => {
                return isWhole(part) && [part, JSON.stringify(part).slice(1, -1)].some((one) => output.includes(one));
              });
            }),
          ];
          deepStrictEqual(leaks, []);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('takes out what repeats itself, and is done in a moment with much text', () => {
    const context = 'the same line again and again\n'.repeat(4_000);
    const redact = redactor({ ...none, texts: [context, ' '.repeat(5_000) + 'end'] });
    const output = redact(`the log is here: ${context.slice(1_000, 4_000)}`);
    deepStrictEqual([output.startsWith('the log '), output.includes('again')], [true, false]);
  });
});
