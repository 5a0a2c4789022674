import { deepStrictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { EventSplitter, isResponseTo, readEvent } from '../../../../src/gateway/upstream/httpEvents.ts';

describe('events of an upstream', () => {
  it('are cut at their blank lines, whatever the line ends and wherever a chunk is torn', () => {
    const line = fc.constantFrom('data: {"a":1}', 'id: 7', ': kept alive', 'data: \u2028ä', 'event: message');
    const event = fc.tuple(fc.array(line, { minLength: 1, maxLength: 4 }), fc.constantFrom('\n', '\r\n', '\r'));
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), fc.array(fc.nat(120), { maxLength: 8 }), (events, cuts) => {
        const texts = events.map(([lines, end]) => lines.join(end) + end + end);
        const whole = Buffer.from(texts.join(''));
        const places = [...new Set(cuts.filter((cut) => cut < whole.length))].sort((a, b) => a - b);
        const splitter = new EventSplitter();
        const found = [0, ...places].flatMap((from, index) => splitter.push(whole.subarray(from, places[index])) ?? []);
        // The second half of a torn line end may begin the next event, or be the last that came.
        const shown = (text: string): string => text.replace(/^\n/, '').replace(/\r$/, '\r\n').replace(/\r\n/g, '\n');
        deepStrictEqual(
          found.map((one) => shown(one.toString()).replace(/\r/g, '\n')),
          texts.map((one) => shown(one).replace(/\r/g, '\n')),
        );
      }),
    );
  });

  it('are given up when one is over the limit, in one chunk or in many', () => {
    const splitter = new EventSplitter();
    const part = Buffer.from('data: 1234');
    deepStrictEqual(
      [
        new EventSplitter().push(Buffer.from('data: 12345\n\n'), 12),
        new EventSplitter().push(Buffer.from('data: 1234\n\n'), 12)?.length,
        splitter.push(part, 12)?.length,
        splitter.push(part, 12),
      ],
      [undefined, 1, 0, undefined],
    );
  });

  it('hold id, time to come back and data; what fits into no header is no id, and no wait is endless', () => {
    const read = (text: string): unknown => readEvent(Buffer.from(text));
    deepStrictEqual(
      [
        read('id: 3\nevent: message\nretry: 500\ndata: a\ndata:b\n\n'),
        read(': kept alive\n\n'),
        read('id: a\u0001\nretry: 99999999999999\n\n'),
        read('id:\nretry: soon\n\n'),
      ],
      [
        { id: '3', name: 'message', retry: 500, data: 'a\nb' },
        { id: undefined, name: undefined, retry: undefined, data: '' },
        { id: undefined, name: undefined, retry: 3_600_000, data: '' },
        { id: '', name: undefined, retry: undefined, data: '' },
      ],
    );
  });

  it('answer a request by its very id, never as a request of their own', () => {
    const answers = [
      '{"id":1,"result":{}}',
      '{"id":"1","result":{}}',
      '{"id":1,"method":"ping"}',
      '{"id":1',
      '[1]',
      'null',
    ];
    deepStrictEqual(
      answers.map((data) => isResponseTo(1, data)),
      [true, false, false, false, false, false],
    );
  });
});
