import assert from 'node:assert/strict';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { HttpUpstream, type HttpUpstreamOptions } from '../../harness/httpUpstream.ts';
import { identityOf, wireStream } from '../../harness/mcpWire.ts';
import { answerOf, brief, upstreamName, UpstreamRig } from '../../harness/upstreamRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
const sampled = { model: 'm', role: 'assistant' as const, content: { type: 'text' as const, text: 'a word' } };
const elicited = { action: 'accept' as const, content: { answer: 'this' } };
const roots = { roots: [{ uri: 'file:///work', name: 'work' }] };
const anything = z.looseObject({});

/** What a client did and heard, for the same comparison with both of them. */
interface Heard {
  readonly heard: string[];
  request(method: string, params: Record<string, unknown>): Promise<unknown>;
  steps(onprogress: (progress: number) => void): Promise<unknown>;
  notify(method: string): Promise<void>;
  cancelled(): Promise<string>;
  close(): Promise<void>;
}

async function connect1(url: string): Promise<Heard> {
  const heard: string[] = [];
  const client = new Client1({ name: 'sdk-1', version: '1.32.2' }, { capabilities });
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
  client.setRequestHandler(ElicitRequestSchema, () => elicited);
  client.setRequestHandler(ListRootsRequestSchema, () => roots);
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.push(`log ${String(params.data)}`);
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    heard.push('tools changed');
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    heard.push(`updated ${params.uri}`);
  });
  await client.connect(new Transport1(new URL(url), { requestInit: { headers: identityOf('ada') } }));
  heard.push(client.getInstructions() ?? 'none');
  return {
    heard,
    request: (method, params) => client.request({ method, params }, anything),
    steps: (onprogress) =>
      client.callTool({ name: 'steps' }, undefined, {
        onprogress: ({ progress }) => {
          onprogress(progress);
        },
      }),
    notify: (method) => client.notification({ method }),
    cancelled: async () => {
      const abort = new AbortController();
      const call = client.callTool({ name: 'hold' }, undefined, { signal: abort.signal });
      setImmediate(() => {
        abort.abort('enough');
      });
      return call.then(
        () => 'answered',
        () => 'cancelled',
      );
    },
    close: () => client.close(),
  };
}

async function connect2(url: string): Promise<Heard> {
  const heard: string[] = [];
  const client = new Client2({ name: 'client-2', version: '2.4.0' }, { capabilities });
  client.setRequestHandler('sampling/createMessage', () => sampled);
  client.setRequestHandler('elicitation/create', () => elicited);
  client.setRequestHandler('roots/list', () => roots);
  client.setNotificationHandler('notifications/message', ({ params }) => {
    heard.push(`log ${String(params.data)}`);
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    heard.push('tools changed');
  });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    heard.push(`updated ${params.uri}`);
  });
  await client.connect(new Transport2(new URL(url), { requestInit: { headers: identityOf('ada') } }));
  heard.push(client.getInstructions() ?? 'none');
  return {
    heard,
    request: (method, params) => client.request({ method, params }, anything),
    steps: (onprogress) =>
      client.callTool(
        { name: 'steps' },
        {
          onprogress: ({ progress }) => {
            onprogress(progress);
          },
        },
      ),
    notify: (method) => client.notification({ method }),
    cancelled: async () => {
      const abort = new AbortController();
      const call = client.callTool({ name: 'hold' }, { signal: abort.signal });
      setImmediate(() => {
        abort.abort('enough');
      });
      return call.then(
        () => 'answered',
        () => 'cancelled',
      );
    },
    close: () => client.close(),
  };
}

describe('what passes to an upstream over HTTP and back', () => {
  let rig: UpstreamRig;
  let upstream: HttpUpstream;

  async function begin(options: HttpUpstreamOptions = {}): Promise<void> {
    upstream = await HttpUpstream.start(options);
    rig = await UpstreamRig.start();
    rig.upstreams.set(upstreamName, upstream.url, { 'X-Key': 'of the person' });
  }

  afterEach(async () => {
    await rig.dispose();
    await upstream.kill();
  });

  for (const [label, connect] of Object.entries({ 'client 2.x': connect2, 'sdk 1.x': connect1 })) {
    for (const resumable of [false, true]) {
      it(`is everything that the real ${label} can do${resumable ? ', with a server whose events have ids' : ''}`, async () => {
        await begin({ resumable });
        const client = await connect(rig.url);
        await waitFor('the standing stream', () => upstream.seen.some(({ verb }) => verb === 'GET'));
        const results: Record<string, unknown> = {};
        results['tools'] = JSON.stringify(await client.request('tools/list', {})).length > 100;
        const steps: number[] = [];
        results['steps'] = await client.steps((progress) => steps.push(progress));
        results['asked'] = await client.request('tools/call', { name: 'ask', arguments: {} });
        results['complete'] = await client.request('completion/complete', {
          ref: { type: 'ref/prompt', name: 'p' },
          argument: { name: 'a', value: 'v' },
        });
        results['read'] = await client.request('resources/read', { uri: 'note://one' });
        results['subscribe'] = await client.request('resources/subscribe', { uri: 'note://one' });
        results['level'] = await client.request('logging/setLevel', { level: 'debug' });
        results['cancelled'] = await client.cancelled();
        await client.notify('notifications/roots/list_changed');
        for (const server of upstream.servers) {
          await server.sendResourceUpdated({ uri: 'note://one' });
          await server.sendToolListChanged();
        }
        await waitFor('what comes without a request', () => client.heard.includes('tools changed'));
        await waitFor('the cancellation', () =>
          upstream.seen.some(({ method }) => method === 'notifications/cancelled'),
        );
        const methods = upstream.seen.map(({ method }) => method);
        assert.deepStrictEqual(
          {
            ...{ results, steps, heard: client.heard },
            rootsChanged: methods.includes('notifications/roots/list_changed'),
            initialized: methods.filter((method) => method === 'notifications/initialized').length,
          },
          {
            results: {
              tools: true,
              steps: { content: [{ type: 'text', text: 'done' }] },
              asked: {
                content: [
                  {
                    type: 'text',
                    text: JSON.stringify({ sampled: sampled.content, elicited, roots: roots.roots }),
                  },
                ],
              },
              complete: { completion: { values: ['v-completed'] } },
              read: { contents: [{ uri: 'note://one', text: 'text of note://one' }] },
              ...{ subscribe: {}, level: {}, cancelled: 'cancelled' },
            },
            steps: [1, 2, 3],
            heard: ['Instructions of the upstream.', 'log working', 'updated note://one', 'tools changed'],
            rootsChanged: true,
            initialized: 1,
          },
        );
        await client.close();
      });
    }
  }

  it('are methods and fields that nobody knows, as they are; a chosen few headers; never the key of the agent', async () => {
    await begin({ json: true });
    const client = await rig.client();
    const answer = await client.post(
      '{ "jsonrpc": "2.0",\n "id": "seven", "method": "x/unknown", "params": {"a": [1.0, 2]} }',
    );
    const headers = upstream.seen.at(-1)?.headers ?? {};
    const names = Object.keys(headers).filter((name) => !['host', 'connection', 'content-length'].includes(name));
    assert.deepStrictEqual(
      {
        answer: answerOf(answer),
        type: answer.headers['content-type'],
        names: names.sort(),
        key: headers['x-key'],
        ownSession: headers['mcp-session-id'] !== client.session,
      },
      {
        answer: { jsonrpc: '2.0', id: 'seven', result: { method: 'x/unknown', params: { a: [1, 2] } } },
        type: 'application/json',
        names: ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id', 'x-key'],
        key: 'of the person',
        ownSession: true,
      },
    );
  });

  it('are bodies of up to 16 MB in both directions, and the upstream is not asked for more', async () => {
    await begin({ json: true });
    const client = await rig.client();
    const size = 15 * 1024 * 1024;
    const there = await client.call('echo', { text: 'x'.repeat(size) });
    const large = await client.call('large', { size: 17 * 1024 * 1024 });
    const stream = new HttpUpstream();
    await stream.start();
    rig.upstreams.set(upstreamName, stream.url);
    const streamed = await client.call('large', { size });
    const tooLarge = await client.call('large', { size: 17 * 1024 * 1024 });
    await stream.kill();
    const unknown = 'The outcome is unknown: the request may have been carried out. Check before you repeat it.';
    assert.deepStrictEqual(
      [brief(there).length, brief(large), brief(streamed).length, brief(tooLarge)],
      [
        size,
        `The MCP server "notes" did not answer: its answer is larger than 16 MB. ${unknown}`,
        size,
        `The MCP server "notes" did not answer: one event of its stream is larger than 16 MB. ${unknown}`,
      ],
    );
  });

  it('are answers that belong together, also where two agents use the same ids at once', async () => {
    await begin();
    const clients = await Promise.all([rig.client('ada'), rig.client('bo'), rig.client('ada')]);
    const calls = clients.flatMap((client, who) =>
      Array.from({ length: 20 }, async (_, id) => {
        const params = { name: 'echo', arguments: { text: `${who} ${id}` } };
        return brief(await client.post({ jsonrpc: '2.0', id, method: 'tools/call', params }));
      }),
    );
    const expected = clients.flatMap((_, who) => Array.from({ length: 20 }, (_one, id) => `${who} ${id}`));
    assert.deepStrictEqual([await Promise.all(calls), upstream.servers.length], [expected, 3]);
  });

  it('are streams that a client comes back to: its standing one, and that of a call', async () => {
    await begin({ resumable: true });
    const client = await rig.client();
    const standing = await client.stream();
    await waitFor('the standing stream at the upstream', () => upstream.seen.some(({ verb }) => verb === 'GET'));
    const [server] = upstream.servers;
    if (server === undefined) throw new Error('no session');
    await server.sendResourceUpdated({ uri: 'note://one' });
    await standing.message('notifications/resources/updated');
    const lastEventId = /^id: (.*)$/m.exec(standing.text())?.[1] ?? '';
    standing.cut();
    await waitFor('the end of the stream', () => !rig.host.streams.has(client.session));
    await server.sendResourceUpdated({ uri: 'note://two' });
    const resumed = await client.stream({ 'last-event-id': lastEventId });
    const missed = await resumed.message('notifications/resources/updated');
    const params = missed['params'];
    const call = await wireStream(rig.host.port, {
      method: 'POST',
      path: `/mcp/${upstreamName}`,
      headers: client.headers,
      body: { jsonrpc: '2.0', id: 'call', method: 'tools/call', params: { name: 'hold', arguments: {} } },
    });
    await waitFor(
      'the call, and the event that it begins with',
      () => upstream.held === 1 && call.text().includes('id: '),
    );
    call.cut();
    const after = /^id: (.*)$/m.exec(call.text())?.[1] ?? '';
    const opening = client.stream({ 'last-event-id': after });
    await waitFor('the coming back', () => upstream.seen.some(({ headers }) => headers['last-event-id'] === after));
    // The server sends no headers before the first event.
    upstream.release();
    const rest = await opening;
    const answer = await waitFor('the answer', () => rest.messages().find(({ id }) => id === 'call'));
    assert.deepStrictEqual(
      [params, answer['result'], resumed.ended()],
      [{ uri: 'note://two' }, { content: [{ type: 'text', text: 'released' }] }, false],
    );
    rest.cut();
    resumed.cut();
  });

  it('does not use a connection of before the host slept', async () => {
    await begin();
    const client = await rig.client();
    const stream = await client.stream();
    await waitFor('the standing stream at the upstream', () => upstream.seen.some(({ verb }) => verb === 'GET'));
    await client.call('echo', { text: 'before' });
    await client.call('echo', { text: 'before' });
    const before = new Set(upstream.seen.map(({ remotePort }) => remotePort));
    upstream.seen.length = 0;
    rig.upstreams.beforeUse = () => {
      rig.upstreams.beforeUse = () => undefined;
      rig.upstreams.pool.invalidate();
    };
    const after = brief(await client.call('echo', { text: 'after' }));
    await waitFor('the standing stream to be opened anew', () => upstream.seen.some(({ verb }) => verb === 'GET'));
    await upstream.servers[0]?.sendToolListChanged();
    await stream.message('notifications/tools/list_changed');
    assert.deepStrictEqual([after, upstream.seen.filter(({ remotePort }) => before.has(remotePort))], ['after', []]);
    stream.cut();
  });

  it('does not use one for a handshake, a stream or the end of a session either', async () => {
    await begin();
    const client = await rig.client();
    const sleep = (): Set<number | undefined> => {
      const before = new Set(upstream.seen.map(({ remotePort }) => remotePort));
      rig.upstreams.beforeUse = () => {
        rig.upstreams.beforeUse = () => undefined;
        rig.upstreams.pool.invalidate();
      };
      upstream.seen.length = 0;
      return before;
    };
    const ways: Record<string, () => Promise<unknown>> = {
      POST: () => rig.client('bo'),
      GET: () => client.stream(),
      DELETE: () => client.delete(),
    };
    const reused: Record<string, number> = {};
    for (const [verb, way] of Object.entries(ways)) {
      // Several at once leave several connections behind.
      await Promise.all(Array.from({ length: 3 }, () => client.call('echo', { text: 'before' })));
      const before = sleep();
      await way();
      await waitFor(`the ${verb}`, () => upstream.seen.some((one) => one.verb === verb));
      reused[verb] = upstream.seen.filter(({ remotePort }) => before.has(remotePort)).length;
    }
    assert.deepStrictEqual(reused, { POST: 0, GET: 0, DELETE: 0 });
  });
});
