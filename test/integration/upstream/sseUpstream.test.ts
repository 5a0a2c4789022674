import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { silentLog } from '../../../src/base/log.ts';
import { HttpPool } from '../../../src/gateway/upstream/httpPool.ts';
import type { PipeOpening } from '../../../src/gateway/upstream/pipe.ts';
import { PipeUpstreams } from '../../../src/gateway/upstream/pipeUpstreams.ts';
import { openSsePipe } from '../../../src/gateway/upstream/ssePipe.ts';
import { identityOf } from '../../harness/mcpWire.ts';
import { SseUpstream } from '../../harness/upstreams/sseUpstream.ts';
import { brief, upstreamName, UpstreamRig } from '../../harness/upstreamRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const noProcesses = { start: () => Promise.reject(new Error('nothing is started here')) };

describe('an upstream over HTTP with SSE', () => {
  let pool: HttpPool;
  let upstream: SseUpstream;
  let rig: UpstreamRig;

  beforeEach(async () => {
    pool = new HttpPool();
    upstream = await SseUpstream.start();
    const pipes = new PipeUpstreams({ processes: noProcesses, pool, log: silentLog, clock: Date.now });
    rig = await UpstreamRig.start({ others: (opening) => pipes.open(opening) });
    rig.upstreams.define(upstreamName, { kind: 'sse', url: upstream.url, headers: { 'X-Token': 'of the person' } });
  });

  afterEach(async () => {
    await rig.dispose();
    await upstream.kill();
    pool.dispose();
  });

  it('passes calls, questions, progress, cancellation and big messages, with the headers of its definition', async () => {
    const client = new Client({ name: 'sdk-1', version: '1' }, { capabilities: { sampling: {}, roots: {} } });
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///work' }] }));
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      ...{ model: 'm', role: 'assistant' as const },
      content: { type: 'text' as const, text: 'word' },
    }));
    const headers = identityOf('ada');
    await client.connect(new StreamableHTTPClientTransport(new URL(rig.url), { requestInit: { headers } }));
    const call = async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
      const result = await client.callTool({ name, arguments: input });
      return brief({ status: 200, headers: {}, body: '', json: { result } });
    };
    const big = await call('large', { size: 8 * 1024 * 1024 });
    const echoed = await call('echo', { text: 'π€🦀'.repeat(100_000) });
    const asked = await call('ask');
    const progress: number[] = [];
    await client.callTool({ name: 'steps', arguments: {} }, undefined, {
      onprogress: (step) => progress.push(step.progress),
    });
    const abort = new AbortController();
    const held = client.callTool({ name: 'hold', arguments: {} }, undefined, { signal: abort.signal });
    const [server] = upstream.servers;
    await waitFor('the call', () => server?.calls.includes('hold'));
    abort.abort('no more');
    const cancelled = await held.then(String, () => 'cancelled');
    await waitFor('the cancellation', () => server?.cancelled.length === 1);
    const tokens = new Set(upstream.seen.map(({ token }) => token));
    assert.deepStrictEqual(
      { big: big.length, echoed: echoed.length, asked, progress, cancelled, tokens: [...tokens] },
      {
        ...{ big: 8 * 1024 * 1024, echoed: 400_000, progress: [1, 2, 3], cancelled: 'cancelled' },
        ...{ asked: '{"roots":[{"uri":"file:///work"}],"sampled":{"type":"text","text":"word"}}' },
        tokens: ['of the person'],
      },
    );
    await client.close();
  });

  it('that was restarted is initialised anew with its subscriptions; a call on its way is of unknown outcome', async () => {
    const client = await rig.client();
    const stream = await client.stream();
    await client.request('resources/subscribe', { uri: 'note://one' });
    const held = client.call('hold');
    await waitFor('the call', () => upstream.servers[0]?.calls.includes('hold'));
    await upstream.kill();
    const outcome = brief(await held);
    await upstream.start();
    await stream.message('notifications/tools/list_changed');
    const next = brief(await client.call('echo', { text: 'again' }));
    assert.deepStrictEqual(
      { outcome, next, subscribed: upstream.servers.at(-1)?.subscribed, sessions: upstream.servers.length },
      {
        outcome:
          'The MCP server "notes" did not answer: its event stream ended. The outcome is unknown: the request may have been carried out. Check before you repeat it.',
        next: 'again',
        subscribed: ['note://one'],
        sessions: 2,
      },
    );
    stream.cut();
  });

  it('is reached by a new session after a sleep of the host', async () => {
    const client = await rig.client();
    await client.call('echo', { text: 'before' });
    pool.invalidate();
    const after = brief(await client.call('echo', { text: 'after' }));
    assert.deepStrictEqual({ after, sessions: upstream.servers.length }, { after: 'after', sessions: 2 });
  });
});

describe('what a server says on an SSE stream', () => {
  let server: Server;
  let pool: HttpPool;
  let told: string[];

  afterEach(async () => {
    pool.dispose();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Opens a pipe to a stand-in that answers the asking for its stream like this. */
  const open = async (
    status: number,
    headers: Record<string, string>,
    ...parts: (string | Buffer)[]
  ): Promise<PipeOpening> => {
    pool = new HttpPool();
    told = [];
    server = createServer((request, response) => {
      if (request.method !== 'GET') {
        response.writeHead(413).end('too much');
        return;
      }
      response.writeHead(status, headers);
      for (const part of parts) response.write(part);
      if (status !== 200) response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return openSsePipe({
      target: { url: `http://127.0.0.1:${port}/sse`, headers: {} },
      agentFor: (url) => pool.agentFor(url),
      listener: { message: (text) => told.push(text), closed: (reason) => told.push(`closed: ${reason}`) },
      dropped: (reason) => told.push(`dropped: ${reason}`),
      wantsLogin: () => told.push('wants a login'),
      times: { open: 300, post: 5000 },
    });
  };
  const events = { 'content-type': 'text/event-stream; charset=utf-8' };

  it('is read whatever its line ends are; what is not UTF-8 is dropped alone', async () => {
    const opening = await open(
      200,
      events,
      '\uFEFF: hello\r\n\r\nretry: 5\r\nevent: endpoint\r\ndata: /post?x=1\r\n\r\n',
      'data:{"a":\ndata: 1}\n\nid: 7\nevent: message\ndata: "π"\r\revent: ping\ndata: x\n\n',
      Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x0a, 0x0a]),
      'data: "last"\n\nevent: endpoint\ndata: /other\n\n',
    );
    assert.ok(opening.kind === 'open');
    await waitFor('the last one', () => told.includes('"last"'));
    const { kind } = await opening.pipe.send('{}');
    opening.pipe.dispose();
    assert.deepStrictEqual(
      { told, kind },
      { told: ['{"a": 1}', '"π"', 'dropped: is not UTF-8', '"last"'], kind: 'refused' },
    );
  });

  it('is refused where a person has to change something, and tried again where it may pass', async () => {
    const cases: [number, Record<string, string>, string][] = [
      [200, events, 'event: endpoint\ndata: http://127.0.0.2:1/post\n\n'],
      [200, events, 'event: endpoint\ndata: http://[\n\n'],
      [200, { 'content-type': 'text/html' }, '<html>'],
      [200, events, 'data: nothing else\n\n'],
      [302, { location: 'http://127.0.0.2:1/' }, ''],
      [302, { location: 'http://[' }, ''],
      [401, {}, ''],
      [403, {}, ''],
      [404, {}, ''],
      [503, {}, ''],
    ];
    const openings: string[] = [];
    for (const [status, headers, part] of cases) {
      const opening = await open(status, headers, part);
      openings.push(...told, opening.kind === 'open' ? 'open' : `${opening.kind}: ${opening.reason}`);
      if (part === cases.at(-1)?.[2] && status === 503) break;
      pool.dispose();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    assert.deepStrictEqual(openings, [
      'refused: it wants messages to be posted to another address: http://127.0.0.2:1',
      'refused: it wants messages to be posted to another address: http://[',
      'refused: no MCP server with an event stream is at this address (HTTP 200)',
      'unreachable: it opened no event stream within 0 s',
      'refused: it redirects to another address (HTTP 302): http://127.0.0.2:1',
      'refused: it redirects to another address (HTTP 302): none',
      'wants a login',
      'refused: it refuses the credentials (HTTP 401)',
      'refused: it refuses the credentials (HTTP 403)',
      'refused: no MCP server with an event stream is at this address (HTTP 404)',
      'unreachable: HTTP 503',
    ]);
  });
});
