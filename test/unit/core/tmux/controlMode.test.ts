import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ControlEvent, ControlModeParser } from '../../../../src/core/tmux/controlMode.ts';

/** As captured from tmux 3.3a over pipes, shortened. */
const pipeStream = [
  '%begin 1795961168 267 0',
  '%end 1795961168 267 0',
  '%session-changed $0 _bowline',
  '%begin 1795961168 272 1',
  'parse error: unknown command: nosuch',
  '%error 1795961168 272 1',
  '%begin 1795961169 273 1',
  '%exit',
  '%begin 1795961169 272 1',
  '%end 1795961169 272 1',
  'é🎉 \u001b\\\r',
  '%end 1795961169 273 1',
  '%subscription-changed fleet $0 - - - : $1 %1 a : b;',
  '%sessions-changed',
  '%window-renamed @3 new name',
  '%invented-later 1 2',
  'lost server',
  '%exit server exited',
  '',
].join('\n');

const pipeEvents: ControlEvent[] = [
  { kind: 'reply', outcome: 'ok', own: false, lines: [] },
  { kind: 'notification', name: 'session-changed', text: '$0 _bowline' },
  { kind: 'reply', outcome: 'error', own: true, lines: ['parse error: unknown command: nosuch'] },
  {
    kind: 'reply',
    outcome: 'ok',
    own: true,
    lines: ['%exit', '%begin 1795961169 272 1', '%end 1795961169 272 1', 'é🎉 \u001b\\\r'],
  },
  { kind: 'subscription', subscription: 'fleet', value: '$1 %1 a : b;' },
  { kind: 'notification', name: 'sessions-changed', text: '' },
  { kind: 'notification', name: 'window-renamed', text: '@3 new name' },
  { kind: 'notification', name: 'invented-later', text: '1 2' },
  { kind: 'text', line: 'lost server' },
  { kind: 'exit', reason: 'server exited' },
];

const ptyStream = `\u001bP1000p${pipeStream.replaceAll('\n', '\r\n')}\u001b\\`;
const ptyEvents: ControlEvent[] = [{ kind: 'opened' }, ...pipeEvents, { kind: 'closed' }];

describe('tmux control mode', () => {
  it('reads replies, notifications and the end over pipes', () => {
    assert.deepStrictEqual(new ControlModeParser().push(pipeStream), pipeEvents);
  });

  it('reads the wrapped stream of a terminal, with its carriage returns', () => {
    assert.deepStrictEqual(new ControlModeParser().push(ptyStream), ptyEvents);
  });

  it('says that the terminal is open before any line is complete', () => {
    assert.deepStrictEqual(new ControlModeParser().push('\u001bP1000p%beg'), [{ kind: 'opened' }]);
  });

  it('gives the same events wherever the bytes are cut', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '%begin 1 2 1',
        '%end 1 2 1',
        '%error 1 2 1',
        '%begin 1 3 0',
        '%end 1 3 0',
        '%exit',
        '\u001b\\',
        '',
      ),
      fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', '')),
    );
    const stream = fc.oneof(
      fc.constantFrom(pipeStream, ptyStream),
      fc.array(line).map((lines) => lines.join('\n')),
      fc.array(line).map((lines) => `\u001bP1000p${lines.join('\r\n')}`),
    );
    fc.assert(
      fc.property(stream, fc.array(fc.nat({ max: 400 })), (text, cuts) => {
        const bytes = new TextEncoder().encode(text);
        const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
        const parser = new ControlModeParser();
        const events: ControlEvent[] = [];
        let from = 0;
        for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
          events.push(...parser.push(decoder.decode(bytes.subarray(from, to), { stream: true })));
          from = to;
        }
        assert.deepStrictEqual(events, new ControlModeParser().push(text));
      }),
      { numRuns: 500 },
    );
  });
});
