import assert from 'node:assert/strict';
import { readMessage } from '../../../../src/gateway/mcp/jsonRpc.ts';

describe('JSON-RPC messages', () => {
  it('tells requests, notifications and responses apart and refuses the rest', () => {
    const kindOf = (text: string): string => {
      const reading = readMessage(Buffer.from(text));
      return reading.kind === 'damaged' ? `damaged ${reading.code}` : reading.kind;
    };
    const cases = {
      '{"jsonrpc":"2.0","id":1,"method":"ping"}': 'request',
      '{"jsonrpc":"2.0","id":"a","method":"x","params":{"a":1}}': 'request',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}': 'notification',
      '{"jsonrpc":"2.0","id":1,"result":{}}': 'response',
      '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}': 'response',
      '': 'damaged -32700',
      '{': 'damaged -32700',
      '[]': 'damaged -32600',
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}]': 'damaged -32600',
      null: 'damaged -32600',
      '1': 'damaged -32600',
      '{}': 'damaged -32600',
      '{"jsonrpc":"1.0","id":1,"method":"ping"}': 'damaged -32600',
      '{"jsonrpc":"2.0","id":null,"method":"ping"}': 'damaged -32600',
      '{"jsonrpc":"2.0","id":{},"method":"ping"}': 'damaged -32600',
      '{"jsonrpc":"2.0","id":1,"method":7}': 'damaged -32600',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}': 'damaged -32600',
      '{"jsonrpc":"2.0","id":1}': 'damaged -32600',
    };
    assert.deepStrictEqual(Object.fromEntries(Object.keys(cases).map((text) => [text, kindOf(text)])), cases);
  });

  it('refuses what is not UTF-8: another character would reach the server than was sent', () => {
    const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"?"}');
    body[body.indexOf('?')] = 0xff;
    const sentence = 'Parse error: the body is not UTF-8';
    assert.deepStrictEqual(readMessage(body), { kind: 'damaged', code: -32700, sentence });
  });

  it('keeps fields that it does not know', () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'x', params: { _meta: { 'a/b': [1] } }, later: true };
    assert.deepStrictEqual(readMessage(Buffer.from(JSON.stringify(message))), { kind: 'request', message });
  });
});
