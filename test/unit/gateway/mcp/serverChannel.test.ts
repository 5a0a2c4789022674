import assert from 'node:assert/strict';
import type { EndpointServer, ServerClient } from '../../../../src/gateway/mcp/endpointServer.ts';
import type { JsonRpcMessage } from '../../../../src/gateway/mcp/jsonRpc.ts';
import { ServerChannel } from '../../../../src/gateway/mcp/serverChannel.ts';

/** A fake server that answers when the test says so. */
class FakeServer implements EndpointServer {
  readonly name = 'fake';
  readonly introduction = { serverInfo: { name: 'fake', version: '1' }, capabilities: {}, instructions: '' };
  readonly got: JsonRpcMessage[] = [];
  disposed = 0;
  receive: ServerClient['receive'] = () => undefined;
  failing: ServerClient['failing'] = () => undefined;

  open(_caller: unknown, client: ServerClient): ReturnType<EndpointServer['open']> {
    this.receive = client.receive;
    this.failing = client.failing;
    return { send: (message) => this.got.push(message), dispose: () => this.disposed++ };
  }

  /** Ids of the requests it got, as they came. */
  ids(): (string | number)[] {
    return this.got.flatMap((message) => ('id' in message ? [message.id] : []));
  }
}

const request = (id: string | number): { jsonrpc: '2.0'; id: string | number; method: string } => ({
  jsonrpc: '2.0',
  id,
  method: 'slow',
});

describe('channel to an MCP server', () => {
  let server: FakeServer;
  let pushed: JsonRpcMessage[];
  let told: (string | undefined)[];
  let channel: ServerChannel;

  beforeEach(() => {
    server = new FakeServer();
    pushed = [];
    told = [];
    const caller = { agent: 'ada', launchId: 'ada.1' };
    channel = new ServerChannel(
      server,
      caller,
      (message) => pushed.push(message),
      (reason) => told.push(reason),
    );
  });

  it('passes on that the server fails and that it works', () => {
    server.failing('no answer');
    server.failing(undefined);
    assert.deepStrictEqual(told, ['no answer', undefined]);
  });

  it('gives each request its own answer, out of order and under ids used twice', async () => {
    const answers = Promise.all([
      channel.request(request('a')),
      channel.request(request(7)),
      channel.request(request(7)),
    ]);
    const [first = 0, second = 0, third = 0] = server.ids();
    server.receive({ jsonrpc: '2.0', id: third, result: { n: 3 } });
    server.receive({ jsonrpc: '2.0', id: first, result: { n: 1 } });
    server.receive({ jsonrpc: '2.0', id: first, result: { n: 'twice' } });
    server.receive({ jsonrpc: '2.0', id: 999, result: { n: 'unknown' } });
    server.receive({ jsonrpc: '2.0', id: second, error: { code: -1, message: 'no' } });
    assert.deepStrictEqual(await answers, [
      { jsonrpc: '2.0', id: 'a', result: { n: 1 } },
      { jsonrpc: '2.0', id: 7, error: { code: -1, message: 'no' } },
      { jsonrpc: '2.0', id: 7, result: { n: 3 } },
    ]);
  });

  it('hands a cancellation on under the id that the server knows and ends the wait', async () => {
    const answer = channel.request(request('a'));
    channel.notify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'other' } });
    channel.notify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a', reason: 'x' } });
    assert.deepStrictEqual(
      [await answer, server.got.slice(1)],
      [
        { jsonrpc: '2.0', id: 'a', error: { code: -32800, message: 'Request cancelled' } },
        [
          {
            jsonrpc: '2.0',
            method: 'notifications/cancelled',
            params: { requestId: server.ids()[0], reason: 'x' },
          },
        ],
      ],
    );
  });

  it('passes on what the server sends by itself', () => {
    const message = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' } as const;
    server.receive(message);
    assert.deepStrictEqual(pushed, [message]);
  });

  it('ends every wait when it is disposed, and answers at once afterwards', async () => {
    const waiting = channel.request(request(1));
    channel.dispose();
    channel.dispose();
    const later = channel.request(request(2));
    const error = { code: -32603, message: 'The session has ended' };
    assert.deepStrictEqual(
      [await waiting, await later, server.disposed],
      [{ jsonrpc: '2.0', id: 1, error }, { jsonrpc: '2.0', id: 2, error }, 1],
    );
  });
});
