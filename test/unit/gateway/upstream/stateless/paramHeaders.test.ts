import assert from 'node:assert/strict';
import {
  headerValue,
  paramHeaders,
  paramHeadersOf,
} from '../../../../../src/gateway/upstream/stateless/paramHeaders.ts';

const text = (header?: unknown): object => ({
  type: 'string',
  ...(header !== undefined && { 'x-mcp-header': header }),
});
const properties = (of: object): object => ({ type: 'object', properties: of });

describe('headers that repeat parameters of a tool', () => {
  it('are found below properties alone', () => {
    const deep = properties({ a: properties({ b: text('Deep') }), c: { type: 'integer', 'x-mcp-header': 'Count' } });
    const found = paramHeadersOf(deep);
    assert.ok(typeof found !== 'string');
    assert.deepStrictEqual(
      [
        paramHeaders(found, { a: { b: ' ü' }, c: 42 }),
        paramHeaders(found, { a: { b: null }, c: false }),
        paramHeaders(found, { a: 'b' }),
        paramHeaders(found, undefined),
        paramHeadersOf(properties({ 'x-mcp-header': text() })),
        paramHeadersOf(properties({ a: { type: 'object', default: { 'x-mcp-header': 'no schema' } } })),
        paramHeadersOf(undefined),
      ],
      [
        { 'mcp-param-deep': '=?base64?IMO8?=', 'mcp-param-count': '42' },
        { 'mcp-param-count': 'false' },
        {},
        {},
        [],
        [],
        [],
      ],
    );
  });

  it('make a tool invalid where they keep no rule', () => {
    assert.deepStrictEqual(
      [
        properties({ a: text('') }),
        properties({ a: text('No Header') }),
        properties({ a: text('A\r\nB') }),
        properties({ a: text(1) }),
        properties({ a: { type: 'number', 'x-mcp-header': 'A' } }),
        properties({ a: text('Same'), b: text('same') }),
        properties({ a: { type: 'array', items: text('A') } }),
        { ...properties({}), anyOf: [properties({ a: text('A') })] },
        { $defs: { a: text('A') } },
        text('A'),
      ].map((schema) => typeof paramHeadersOf(schema)),
      Array.from({ length: 10 }, () => 'string'),
    );
  });

  it('are found in a schema that is nested deeper than calls can be', () => {
    let schema: object = text('A');
    for (let depth = 0; depth < 200_000; depth++) schema = { items: schema };
    let chain: object = text('A');
    for (let depth = 0; depth < 200_000; depth++) chain = { properties: { a: chain } };
    assert.deepStrictEqual([typeof paramHeadersOf(schema), typeof paramHeadersOf(chain)], ['string', 'string']);
  });

  it('carry any text', () => {
    assert.deepStrictEqual(
      ['us-west1', 'Hello, 世界', ' padded ', 'line1\nline2', '=?base64?literal?=', '', 'a b'].map(headerValue),
      [
        'us-west1',
        '=?base64?SGVsbG8sIOS4lueVjA==?=',
        '=?base64?IHBhZGRlZCA=?=',
        '=?base64?bGluZTEKbGluZTI=?=',
        '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=',
        '=?base64??=',
        'a b',
      ],
    );
  });
});
