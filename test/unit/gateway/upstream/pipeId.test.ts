import assert from 'node:assert/strict';
import fc from 'fast-check';
import { idSpan, withId } from '../../../../src/gateway/upstream/pipeId.ts';

describe('the id of a message', () => {
  it('is exchanged wherever it stands, and nothing else', () => {
    const cases = [
      '{"jsonrpc":"2.0","id":7,"method":"x"}',
      ' { "result" : {"id":1,"a":[{"id":2}],"b":"\\"id\\":3,}{"} , "id" : "x\\"y\\\\" } ',
      '{"id":null}',
      '{"big":12345678901234567890,"i\\u0064":1.50e3}',
      '{"id":1,"id":2,"id":3}',
      '{"method":"x","params":{"id":1}}',
      '[{"id":1}]',
    ];
    assert.deepStrictEqual(
      cases.map((text) => withId(text, '"new"')),
      [
        '{"jsonrpc":"2.0","id":"new","method":"x"}',
        ' { "result" : {"id":1,"a":[{"id":2}],"b":"\\"id\\":3,}{"} , "id" : "new" } ',
        '{"id":"new"}',
        '{"big":12345678901234567890,"i\\u0064":"new"}',
        '{"id":1,"id":2,"id":"new"}',
        '{"method":"x","params":{"id":1}}',
        '[{"id":1}]',
      ],
    );
  });

  it('is found in any message', () => {
    const member = fc.tuple(fc.oneof(fc.string(), fc.constant('idx')), fc.json());
    const space = fc.stringMatching(/^[ \n\r\t]{0,3}$/);
    const message = fc.record({
      before: fc.array(member),
      after: fc.array(member),
      id: fc.oneof(fc.integer(), fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true })),
      space,
    });
    fc.assert(
      fc.property(message, ({ before, after, id, space: gap }) => {
        const members = [...before, ['id', JSON.stringify(id)] as const, ...after].filter(
          ([name, value]) => name !== 'id' || value === JSON.stringify(id),
        );
        const text = `${gap}{${gap}${members
          .map(([name, value]) => `${JSON.stringify(name)}${gap}:${gap}${value}`)
          .join(`${gap},${gap}`)}${gap}}${gap}`;
        const span = idSpan(text);
        assert.equal(text.slice(span?.start, span?.end), JSON.stringify(id));
        assert.doesNotThrow(() => JSON.parse(withId(text, '"new"')));
      }),
    );
  });
});
