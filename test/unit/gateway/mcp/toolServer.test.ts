import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { silentLog } from '../../../../src/base/log.ts';
import type { JsonRpcMessage } from '../../../../src/gateway/mcp/jsonRpc.ts';
import { plainTool, success, tool, toolServer, type ToolWords } from '../../../../src/gateway/mcp/toolServer.ts';

describe('tool server', () => {
  const words = (name: string): ToolWords => ({ name, title: name, description: `does ${name}`, annotations: {} });
  const server = toolServer(
    'tools',
    { serverInfo: { name: 'tools', version: '1' }, instructions: '' },
    () => [
      plainTool(words('name'), ({ agent }) => success(agent)),
      plainTool(words('fail'), () => {
        throw new Error('no disk');
      }),
      tool(words('add'), z.object({ a: z.number(), b: z.optional(z.number()) }), (_caller, { a, b = 1 }) =>
        success(String(a + b)),
      ),
    ],
    silentLog,
  );

  let told: (string | undefined)[] = [];
  beforeEach(() => {
    told = [];
  });

  async function ask(method: string, params?: Record<string, unknown>, agent = 'ada'): Promise<unknown> {
    const message = await new Promise<JsonRpcMessage>((resolve) => {
      const failing = (reason: string | undefined): void => void told.push(reason);
      const connection = server.open({ agent, launchId: `${agent}.1` }, { receive: resolve, failing });
      connection.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      connection.send({ jsonrpc: '2.0', id: 'asked', result: {} });
      connection.send({ jsonrpc: '2.0', id: 7, method, ...(params && { params }) });
    });
    const { jsonrpc, id, ...rest } = { id: undefined, ...message };
    assert.deepStrictEqual([jsonrpc, id], ['2.0', 7]);
    return rest;
  }

  it('lists its tools with the schema of their arguments', async () => {
    assert.deepStrictEqual(await ask('tools/list', { cursor: 'any' }), {
      result: {
        tools: [
          { ...words('name'), inputSchema: { type: 'object', properties: {} } },
          { ...words('fail'), inputSchema: { type: 'object', properties: {} } },
          {
            ...words('add'),
            inputSchema: {
              $schema: 'https://json-schema.org/draft/2020-12/schema',
              type: 'object',
              properties: { a: { type: 'number' }, b: { type: 'number' } },
              required: ['a'],
            },
          },
        ],
      },
    });
  });

  it('runs a tool for its caller, and answers what cannot be run', async () => {
    const text = (words: string): object => ({ content: [{ type: 'text', text: words }] });
    const wrong = 'Input validation error: Invalid arguments for tool add: a: Invalid input: expected number, received';
    assert.deepStrictEqual(
      [
        await ask('tools/call', { name: 'name' }),
        await ask('tools/call', { name: 'name', arguments: { more: 1 } }, 'bo'),
        await ask('tools/call', { name: 'add', arguments: { a: 1 } }),
        await ask('tools/call', { name: 'add', arguments: { a: 'x' } }),
        await ask('tools/call', { name: 'add' }),
        await ask('tools/call', { name: 'fail' }),
        await ask('tools/call', { name: 'toString' }),
        await ask('ping'),
        await ask('resources/list'),
      ],
      [
        { result: text('ada') },
        { result: text('bo') },
        { result: text('2') },
        { result: { ...text(`${wrong} string`), isError: true } },
        { result: { ...text(`${wrong} undefined`), isError: true } },
        { result: { ...text('The tool failed inside Bowline: no disk. Tell the person.'), isError: true } },
        { error: { code: -32602, message: 'Tool toString not found' } },
        { result: {} },
        { error: { code: -32601, message: 'Method not found' } },
      ],
    );
  });

  it('tells that it fails when a tool does, and that it works when one does again', async () => {
    for (const name of ['name', 'fail', 'toString', 'name']) await ask('tools/call', { name });
    await ask('tools/list');
    assert.deepStrictEqual(told, [undefined, 'its tool fail failed: no disk', undefined]);
  });

  it('refuses a call without a name or with arguments that are no object', async () => {
    const calls = [undefined, { arguments: {} }, { name: 'name', arguments: 'text' }, { name: 'name', arguments: [] }];
    const answers = await Promise.all(calls.map((params) => ask('tools/call', params)));
    const code = z.object({
      error: z.object({ code: z.number(), message: z.string().check(z.startsWith('Invalid tools/call')) }),
    });
    assert.deepStrictEqual(
      answers.map((answer) => code.parse(answer).error.code),
      calls.map(() => -32602),
    );
  });
});
