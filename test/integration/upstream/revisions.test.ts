import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { silentLog } from '../../../src/base/log.ts';
import { sessionRevisions } from '../../../src/gateway/mcp/revisions.ts';
import { HttpPool } from '../../../src/gateway/upstream/httpPool.ts';
import { upstreamOpener } from '../../../src/gateway/upstream/openUpstream.ts';
import { StdioProcesses } from '../../../src/gateway/upstream/stdioProcesses.ts';
import { processIdentity } from '../../../src/node/processIdentity.ts';
import { bundlePrograms } from '../../harness/bundle.ts';
import { identityOf, initializeRequest, wire } from '../../harness/mcpWire.ts';
import { findProcesses } from '../../harness/processes.mjs';
import { OlderUpstream } from '../../harness/upstreams/olderUpstream.ts';
import { SseUpstream } from '../../harness/upstreams/sseUpstream.ts';
import { StatelessUpstream } from '../../harness/upstreams/statelessUpstream.ts';
import { brief, upstreamName, UpstreamRig } from '../../harness/upstreamRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

/** The revision that an agent and its upstream settle on, when the agent wants this one. */
async function settled(rig: UpstreamRig, wanted: string): Promise<string | undefined> {
  const { port } = rig.host;
  const body = initializeRequest('1', 'x', wanted);
  const answer = await wire(port, { path: `/mcp/${upstreamName}`, headers: identityOf('ada'), body });
  return /"protocolVersion":"([^"]*)"/.exec(answer.body)?.[1];
}

/** Stands for a server, as no real one can be had that answers so. */
async function serve(
  answer: (request: z.infer<typeof requestSchema>, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const read = requestSchema.safeParse(JSON.parse(body === '' ? '{}' : body)).data;
      if (read === undefined) response.writeHead(request.method === 'POST' ? 202 : 405).end();
      else answer(read, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  standIns.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const standIns: Server[] = [];

const requestSchema = z.object({ id: z.union([z.number(), z.string()]), method: z.string() });

describe('upstreams of every revision', () => {
  let programs: string;
  let directory: string;
  let processes: StdioProcesses;
  let pool: HttpPool;
  let rig: UpstreamRig;

  before(async () => {
    programs = await mkdtemp(join(tmpdir(), 'bowline-programs-'));
    const upstreams = join(import.meta.dirname, '../../harness/upstreams');
    await bundlePrograms({
      entryPoints: { older: join(upstreams, 'olderStdioMain.ts'), stateless: join(upstreams, 'statelessStdioMain.ts') },
      directory: programs,
    });
  });

  after(() => rm(programs, { recursive: true }));

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bowline-'));
    const gateway = await processIdentity(process.pid);
    assert.ok(gateway);
    processes = new StdioProcesses({ directory: join(directory, 'upstreams'), gateway, log: silentLog });
    pool = new HttpPool();
    rig = await UpstreamRig.start({ others: upstreamOpener({ processes, pool, log: silentLog, clock: Date.now }) });
  });

  afterEach(async () => {
    await rig.dispose();
    for (const server of standIns.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    pool.dispose();
    processes.kill();
    await processes.settled();
    const left = findProcesses(directory);
    await rm(directory, { recursive: true });
    assert.deepStrictEqual(left, []);
  });

  const define = (program: string, ...args: string[]): void => {
    rig.upstreams.define(upstreamName, {
      kind: 'stdio',
      command: process.execPath,
      args: [join(programs, `${program}.js`), ...args],
      environment: { PATH: process.env['PATH'] ?? '', MARK: directory },
      directory,
    });
  };

  for (const revision of sessionRevisions) {
    it(`serve an agent that wants another: ${revision}, over HTTP and stdio`, async () => {
      const upstream = await OlderUpstream.start(revision);
      rig.upstreams.set(upstreamName, upstream.url);
      const agreed = await Promise.all(sessionRevisions.map((wanted) => settled(rig, wanted)));
      const client = await rig.client();
      client.headers['mcp-protocol-version'] = revision;
      const stream = await client.stream();
      const first = brief(await client.call('echo', { text: 'first' }));
      for (const server of upstream.servers) await server.sendToolListChanged();
      await stream.message('notifications/tools/list_changed');
      await upstream.restart();
      const again = brief(await client.call('echo', { text: 'again' }));
      stream.cut();
      await upstream.kill();
      define('older', revision);
      const piped = await settled(rig, '2025-11-25');
      const other = await rig.client();
      const third = brief(await other.call('echo', { text: 'third' }));
      assert.deepStrictEqual(
        { agreed, named: [...upstream.named], first, again, piped, third },
        {
          agreed: sessionRevisions.map(() => revision),
          ...{ named: [revision], first: 'first', again: 'again', piped: revision, third: 'third' },
        },
      );
    });
  }

  it('serve an agent of every revision where they know it: one of the first transport, one of all, one without sessions', async () => {
    const first = await SseUpstream.start();
    const dual = await StatelessUpstream.start('stateless');
    const stateless = await StatelessUpstream.start();
    rig.upstreams.define(upstreamName, { kind: 'sse', url: first.url, headers: {} });
    const overSse = await Promise.all(sessionRevisions.map((wanted) => settled(rig, wanted)));
    rig.upstreams.set(upstreamName, dual.url);
    const byDual = await Promise.all(sessionRevisions.map((wanted) => settled(rig, wanted)));
    const called = brief(await (await rig.client()).call('echo', { text: 'both' }));
    rig.upstreams.set(upstreamName, stateless.url);
    const byStateless = await Promise.all(sessionRevisions.map((wanted) => settled(rig, wanted)));
    await Promise.all([first.kill(), dual.kill(), stateless.kill()]);
    assert.deepStrictEqual(
      { overSse, byDual, called, byStateless, discovered: dual.methods.filter((method) => method !== 'undefined') },
      {
        ...{ overSse: sessionRevisions, byDual: sessionRevisions, byStateless: sessionRevisions },
        ...{ called: 'both', discovered: [] },
      },
    );
  });

  it('without sessions are translated for over stdio as well', async () => {
    define('stateless');
    const client = await rig.client();
    const stream = await client.stream();
    await client.request('resources/subscribe', { uri: 'note://one' });
    const echo = brief(await client.call('echo', { text: 'π' }));
    void client.call('hold');
    const change = brief(await client.call('change'));
    await stream.message('notifications/tools/list_changed');
    await stream.message('notifications/resources/updated');
    const state = async (): Promise<{ pid: number; cancelled: number }> =>
      JSON.parse(brief(await client.call('state'))) as { pid: number; cancelled: number };
    const { pid } = await state();
    process.kill(pid, 'SIGKILL');
    await waitFor('another process', async () => (await state().catch(() => ({ pid }))).pid !== pid);
    const after = brief(await client.call('echo', { text: 'after' }));
    stream.cut();
    assert.deepStrictEqual({ echo, change, after }, { echo: 'π', change: 'changed', after: 'after' });
  });

  it('are understood where they send several messages at once, as 2025-03-26 alone has it', async () => {
    const message = (more: object): object => ({ jsonrpc: '2.0', ...more });
    const log = message({ method: 'notifications/message', params: { level: 'info', data: 'x' } });
    const result = (id: number | string, result: object): object => message({ id, result });
    const url = await serve(({ id, method }, response) => {
      const introduction = { protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 'n', version: '1' } };
      const answer = [
        log,
        result(id, method === 'initialize' ? introduction : { content: [{ type: 'text', text: method }] }),
      ];
      if (method === 'tools/call') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`id: 1\ndata: ${JSON.stringify(answer)}\n\n`);
      } else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    rig.upstreams.set(upstreamName, url);
    const client = await rig.client();
    const called = await client.call('x');
    const listed = await client.request('tools/list');
    const events = (body: string): readonly string[] =>
      body.split('\n\n').map((event) => event.replaceAll(/"id":\d+/g, '"id":N'));
    const end = (method: string): string =>
      `event: message\ndata: {"jsonrpc":"2.0","id":N,"result":{"content":[{"type":"text","text":"${method}"}]}}`;
    const first = `event: message\ndata: ${JSON.stringify(log)}`;
    assert.deepStrictEqual(
      [events(called.body), events(listed.body)],
      [
        [first, `id: 1\n${end('tools/call')}`, ''],
        [first, end('tools/list'), ''],
      ],
    );
  });

  it('that speak none that is known are named as not served', async () => {
    const answers: Record<string, object> = {
      'server/discover': { result: { resultType: 'complete', supportedVersions: ['2027-01-01'], capabilities: {} } },
      initialize: { error: { code: -32022, message: 'Unsupported', data: { supported: ['2027-01-01'] } } },
    };
    const url = await serve(({ id, method }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answers[method] }));
    });
    rig.upstreams.set(upstreamName, url);
    const states: string[] = [];
    const look = async (): Promise<void> => {
      const client = await rig.client();
      await client.request('tools/list');
      const stream = await client.stream();
      const ping = await stream.message('ping');
      await client.post({ jsonrpc: '2.0', id: ping['id'], result: {} });
      states.push(await waitFor('the reason', () => rig.health().startsWith('degraded') && rig.health()));
      stream.cut();
    };
    await look();
    answers['initialize'] = { result: { protocolVersion: '2027-01-01', capabilities: {} } };
    await look();
    answers['initialize'] = { error: { code: -32603, message: 'not for you' } };
    answers['server/discover'] = { error: { code: -32601, message: 'Method not found' } };
    const declined = await rig.client().catch(String);
    assert.deepStrictEqual(
      { states, declined },
      {
        states: [
          'degraded: it speaks MCP 2027-01-01 only, and Bowline serves 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28',
          'degraded: it wants to speak MCP 2027-01-01, which Bowline serves in no session',
        ],
        declined: 'Error: no session: 200 {"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"not for you"}}',
      },
    );
  });
});
