import assert from 'node:assert/strict';
import { ClientSide } from '../../../../../src/gateway/upstream/stateless/requests.ts';
import { readAnswer } from '../../../../../src/gateway/upstream/stateless/results.ts';
import { KnownTools } from '../../../../../src/gateway/upstream/stateless/tools.ts';
import type { AgentMessage } from '../../../../../src/gateway/upstream/upstreamSession.ts';

const initialize = Buffer.from(
  JSON.stringify({
    ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
    params: {
      protocolVersion: '2025-06-18',
      capabilities: { roots: {}, tasks: {} },
      clientInfo: { name: 'c', version: '1' },
    },
  }),
);

const meta =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}';

const request = (body: string, method: string): AgentMessage => ({
  body: Buffer.from(body),
  reading: { kind: 'request', id: 1, method },
  headers: { 'mcp-protocol-version': '2025-06-18', 'user-agent': 'c' },
});

describe('messages of the stateless revision', () => {
  it('are the requests of the agent with what it said once, all else as it came', () => {
    const client = new ClientSide(initialize);
    const plain = client.translated(request('{"id":1,"method":"tools/list"}', 'tools/list'));
    const call = '{"id":1.0,"params":{"name":"π","arguments":{"n":12345678901234567890},"_meta": { "x":1 }}}';
    const again = client.translated(request(call, 'tools/call'), {
      ...{ id: 'round', params: '"requestState":"s"', headers: { 'mcp-param-n': '1' } },
    });
    client.logLevel = 'info';
    const logged = client.translated(request('{"id":1,"params":{"uri":"note://a"}}', 'resources/read'));
    assert.deepStrictEqual(
      [plain, again, logged].map(({ body, headers, reading }) => ({ body: body.toString(), headers, reading })),
      [
        {
          body: `{"id":1,"method":"tools/list","params":{"_meta":{${meta}}}}`,
          headers: { 'mcp-protocol-version': '2026-07-28', 'user-agent': 'c', 'mcp-method': 'tools/list' },
          reading: { kind: 'request', id: 1, method: 'tools/list' },
        },
        {
          body: `{"id":"round","params":{"name":"π","arguments":{"n":12345678901234567890},"_meta": { "x":1 ,${meta}},"requestState":"s"}}`,
          headers: {
            ...{ 'mcp-protocol-version': '2026-07-28', 'user-agent': 'c', 'mcp-method': 'tools/call' },
            ...{ 'mcp-name': '=?base64?z4A=?=', 'mcp-param-n': '1' },
          },
          reading: { kind: 'request', id: 'round', method: 'tools/call' },
        },
        {
          body: `{"id":1,"params":{"uri":"note://a","_meta":{${meta},"io.modelcontextprotocol/logLevel":"info"}}}`,
          headers: {
            ...{ 'mcp-protocol-version': '2026-07-28', 'user-agent': 'c', 'mcp-method': 'resources/read' },
            'mcp-name': 'note://a',
          },
          reading: { kind: 'request', id: 1, method: 'resources/read' },
        },
      ],
    );
  });

  it('are answers without what older revisions do not know, all else as it came', () => {
    const read = (method: string, text: string): unknown => readAnswer(method, text);
    assert.deepStrictEqual(
      [
        read('tools/call', '{"id":1,"result":{"resultType":"complete","structuredContent":{"n":1234567890123456789}}}'),
        read('tools/call', '{"id":1,"result":{"content":[],"structuredContent":[1],"resultType":"complete"}}'),
        read('tools/list', '{"id":1,"result":{"ttlMs":1,"cacheScope":"public","tools":[],"x":{"resultType":"kept"}}}'),
        read('x', '{"id":1,"error":{"code":-32602,"message":"-32020"}}'),
        read('x', '{"id":1,"error":{"code":-32020,"message":"Header mismatch"}}'),
        read('x', '{"id":1,"result":7}'),
        read('x', '{"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}'),
        read('x', '{"id":1,"result":{"resultType":"input_required","requestState":"s"}}'),
        read('x', '{"id":1,"result":{"resultType":"input_required","inputRequests":[]}}'),
        read('x', '{"id":1,"result":{"resultType":"task"}}'),
      ],
      [
        { kind: 'final', text: '{"id":1,"result":{"structuredContent":{"n":1234567890123456789}}}' },
        { kind: 'final', text: '{"id":1,"result":{"content":[]}}' },
        { kind: 'final', text: '{"id":1,"result":{"tools":[],"x":{"resultType":"kept"}}}' },
        { kind: 'final', text: '{"id":1,"error":{"code":-32602,"message":"-32020"}}' },
        { kind: 'header mismatch', text: '{"id":1,"error":{"code":-32020,"message":"Header mismatch"}}' },
        { kind: 'final', text: '{"id":1,"result":7}' },
        { kind: 'input required', input: { inputRequests: { a: { method: 'roots/list' } } } },
        { kind: 'input required', input: { inputRequests: {}, requestState: 's' } },
        { kind: 'invalid', problem: 'asks for input in a form that is not known' },
        { kind: 'invalid', problem: 'answered with a result of type "task", which is not known' },
      ],
    );
  });

  it('list no tool that older clients cannot take, and as they came those that they can', () => {
    const left: string[] = [];
    const tools = new KnownTools((tool, reason) => left.push(`${tool}: ${reason}`));
    const same = '{"id":1,"result":{"tools":[ {"name":"a","big":12345678901234567890} ],"nextCursor":"b"}}';
    const region = { properties: { where: { type: 'string', 'x-mcp-header': 'Region' } } };
    const others = [
      { name: 'list', outputSchema: { type: 'array' } },
      { name: 'broken', inputSchema: { properties: { a: { 'x-mcp-header': 'A' } } } },
      { name: 'region', inputSchema: region },
    ];
    const call = Buffer.from('{"params":{"arguments":{"where":"eu"}}}');
    const first = tools.read(same);
    const second = tools.read(JSON.stringify({ id: 1, result: { tools: others } }));
    assert.deepStrictEqual(
      {
        ...{ first, second, left, unreadable: tools.read('{"id":1,"result":{"tools":{}}}') },
        headers: [
          tools.headersFor('region', call),
          tools.headersFor('broken', call),
          tools.headersFor(undefined, call),
        ],
      },
      {
        first: { text: same, nextCursor: 'b' },
        second: {
          text: JSON.stringify({
            id: 1,
            result: { tools: [{ name: 'list' }, { name: 'region', inputSchema: region }] },
          }),
          nextCursor: undefined,
        },
        left: ['broken: x-mcp-header of "a" is not of a plain type'],
        unreadable: { text: '{"id":1,"result":{"tools":{}}}', nextCursor: undefined },
        headers: [{ 'mcp-param-region': 'eu' }, {}, {}],
      },
    );
  });
});
