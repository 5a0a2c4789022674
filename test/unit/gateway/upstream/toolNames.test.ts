import assert from 'node:assert/strict';
import { shortened, shortToolName, withServersName } from '../../../../src/gateway/upstream/toolNames.ts';

const long = 'a_tool_with_a_name_that_somebody_made_of_a_whole_sentence_and_more';

describe('names of tools', () => {
  it('are as they were where all fits, and else cut to 64 characters with the server, each of its own', () => {
    const full = (server: string, tool: string): string => `mcp__${server}__${shortToolName(server, tool)}`;
    const short = full('notes', long);
    assert.match(short, /^mcp__notes__a_tool_with_a_name_that_somebody_\w+_[0-9a-f]{8}$/);
    assert.deepStrictEqual(
      {
        length: short.length,
        again: full('notes', long) === short,
        other: full('notes', `${long}2`) === short,
        fits: shortToolName('notes', 'x'.repeat(52)),
        oneMore: full('notes', 'x'.repeat(53)).length,
        noRoom: shortToolName('s'.repeat(55), 'x'.repeat(10)),
      },
      { length: 64, again: true, other: false, fits: 'x'.repeat(52), oneMore: 64, noRoom: 'x'.repeat(10) },
    );
  });

  it('are exchanged in a list alone, with all else in it', () => {
    const tools = [{ name: 'echo' }, { name: long, inputSchema: { type: 'object' }, later: 1 }];
    const list = { jsonrpc: '2.0', id: 7, result: { tools, nextCursor: 'c' } };
    const found = shortened('notes', JSON.stringify(list));
    const name = shortToolName('notes', long);
    assert.deepStrictEqual(
      [found?.names, JSON.parse(found?.answer ?? '{}')],
      [{ [name]: long }, { ...list, result: { tools: [tools[0], { ...tools[1], name }], nextCursor: 'c' } }],
    );
    for (const other of [
      '{"result":{"tools":[{"name":"echo"}]}}',
      '{"error":{}}',
      'no JSON',
      '{"result":{"tools":{}}}',
    ]) {
      assert.equal(shortened('notes', other), undefined);
    }
  });

  it('are the servers own in a call, which stays as it came besides', () => {
    const names = { short: 'the "long" one' };
    const call = (text: string): string => withServersName(Buffer.from(text), names).toString();
    assert.deepStrictEqual(
      [
        call('{"id": 1.0, "params": {"arguments": {"name": "short"}, "name": "short"}, "x":[1.0]}'),
        call('{"params":{"name":"other"}}'),
        call('{"params":{"name":"toString"}}'),
        call('{"name":"short"}'),
      ],
      [
        '{"id": 1.0, "params": {"arguments": {"name": "short"}, "name": "the \\"long\\" one"}, "x":[1.0]}',
        '{"params":{"name":"other"}}',
        '{"params":{"name":"toString"}}',
        '{"name":"short"}',
      ],
    );
  });
});
