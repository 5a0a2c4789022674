import assert from 'node:assert/strict';
import fc from 'fast-check';
import { memberValue, withMembers, withoutMembers } from '../../../../src/gateway/upstream/jsonMembers.ts';

describe('members of a JSON text', () => {
  it('are added and taken away where they stand, and all else stays as it came', () => {
    assert.deepStrictEqual(
      [
        withMembers('{}', '"b":2'),
        withMembers(' { "a" : 12345678901234567890 } ', '"b":2'),
        withMembers('{"p":{ },"q":1}', '"b":2', '{"p":'.length),
        withoutMembers('{"a":1, "b" : [{"b":2}],"c":1.50}', ['b']),
        withoutMembers('{"b":1,"\\u0062":2}', ['b']),
        withoutMembers('{"a":1}', ['b']),
        withoutMembers('[1]', ['b']),
      ],
      [
        '{"b":2}',
        ' { "a" : 12345678901234567890 ,"b":2} ',
        '{"p":{ "b":2},"q":1}',
        '{"a":1,"c":1.50}',
        '{}',
        '{"a":1}',
        '[1]',
      ],
    );
  });

  it('are those that JSON.parse finds', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
    fc.assert(
      fc.property(
        object,
        fc.string(),
        fc.jsonValue(),
        fc.constantFrom(undefined, 1, '\t'),
        (fields, name, value, gap) => {
          const text = JSON.stringify(fields, undefined, gap);
          const added = withMembers(text, `${JSON.stringify(name)}:${JSON.stringify(value)}`);
          const { [name]: _, ...others } = fields;
          assert.deepStrictEqual(
            [memberValue(added, name), JSON.parse(withoutMembers(added, [name]))],
            [JSON.parse(JSON.stringify(value)), JSON.parse(JSON.stringify(others))],
          );
        },
      ),
    );
  });
});
