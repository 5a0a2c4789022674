import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bindingHealth } from '../../../src/core/binding/health.ts';
import { bindingTimes } from '../../../src/core/binding/times.ts';
import { longestSilence } from '../../../src/gateway/mcp/standingStreams.ts';
import { agentRunning, epochStarted, launched, MemoryFleet } from '../../harness/mcpFleet.ts';
import { type McpHost, type McpHostOptions, startMcpHost } from '../../harness/mcpHost.ts';
import { identityOf, initializeRequest, wire, type WireAnswer, WireClient } from '../../harness/mcpWire.ts';
import { waitFor } from '../../harness/waitFor.ts';

/** Status, and the code of a JSON-RPC error where there is one. */
function brief(answer: WireAnswer): string {
  const { json } = answer;
  const error = typeof json === 'object' && json !== null && 'error' in json ? json.error : undefined;
  const code = typeof error === 'object' && error !== null && 'code' in error ? ` ${String(error.code)}` : '';
  return `${answer.status}${code}`;
}

const notFound = { error: { code: -32001, message: 'Session not found' } };

describe('MCP sessions over HTTP', () => {
  let directory: string;
  let fleet: MemoryFleet;
  let host: McpHost;
  let now: number;

  const start = async (options: Partial<McpHostOptions> = {}): Promise<void> => {
    host = await startMcpHost({ directory, fleet, clock: () => now, ...options });
  };

  /** Kills the host and starts another over the same files, port and fleet. */
  const restart = async (port: 'kept open' | 'was closed' = 'kept open', awayMs = 100): Promise<void> => {
    const former = host.port;
    await host.kill();
    const diedAt = now;
    now += awayMs;
    const epoch = { id: `e${now}`, startedAt: now, previousSeenAt: diedAt, port };
    fleet.report({ at: now, kind: 'epoch started', epoch });
    await start({ port: former });
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bowline-mcp-'));
    now = 1_700_000_000_000;
    fleet = new MemoryFleet();
    fleet.report(epochStarted('e1', now));
    for (const name of ['ada', 'bo']) for (const event of agentRunning(name, now)) fleet.report(event);
    await start();
  });

  afterEach(async () => {
    await host.kill();
    await rm(directory, { recursive: true });
  });

  it('go on under their old ids after a kill: ten calls at once and the stream, revived once', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    await client.request('tools/list');
    await restart();
    const streaming = client.stream();
    const calls = await Promise.all(Array.from({ length: 10 }, () => client.call('whoami')));
    const stream = await streaming;
    assert.deepStrictEqual(
      { calls: calls.map(brief), stream: stream.status, opened: host.opened(), sessions: host.sessions.all().length },
      { calls: calls.map(() => '200'), stream: 200, opened: 1, sessions: 1 },
    );
    stream.cut();
  });

  it('stay gone once deleted, also after a restart; unknown, malformed and foreign ids are not found', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const other = await WireClient.initialize(host.port, 'bo');
    const deleted = await client.delete();
    const again = await client.delete();
    await restart();
    const as = (session: string, launchId?: string): Promise<WireAnswer> =>
      new WireClient(host.port, 'ada', session, launchId).request('tools/list');
    for (const event of launched('bo', now, 'bo.2')) fleet.report(event);
    const ofFormerLaunch = new WireClient(host.port, 'bo', other.session, 'bo.2').request('tools/list');
    const answers = await Promise.all([
      client.request('tools/list'),
      as('unknown-0000000000000000000000000000000000'),
      as('../../etc/passwd'),
      as('x'.repeat(4_000)),
      as(other.session),
      ofFormerLaunch,
    ]);
    assert.deepStrictEqual(
      {
        deleted: brief(deleted),
        again: brief(again),
        answers: answers.map(({ status, json }) => ({ status, json })),
        stillThere: host.sessions.get(other.session)?.agent,
        opened: host.opened(),
      },
      {
        deleted: '204',
        again: '404 -32001',
        answers: answers.map(() => ({ status: 404, json: { jsonrpc: '2.0', id: 1, ...notFound } })),
        stillThere: 'bo',
        opened: 0,
      },
    );
  });

  it('answer every header and request by the table', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const body = (method: string): object => ({ jsonrpc: '2.0', id: 5, method });
    const requests = {
      initialize: { body: initializeRequest() },
      other: { body: body('tools/list') },
      unknownMethod: { body: body('no/such') },
      notification: { body: { jsonrpc: '2.0', method: 'notifications/initialized' } },
      notJson: { body: '<html>' },
      batch: { body: [body('tools/list')] },
      discover: { body: body('server/discover') },
      GET: { method: 'GET' },
      DELETE: { method: 'DELETE' },
      PUT: { method: 'PUT', body: {} },
      PATCH: { method: 'PATCH', body: {} },
      OPTIONS: { method: 'OPTIONS' },
    };
    const ids: Record<string, Record<string, string>> = {
      absent: {},
      unknown: { 'mcp-session-id': 'unknown-0000000000000000000000000000000000' },
      known: { 'mcp-session-id': client.session },
    };
    const table: Record<string, string> = {};
    const html: string[] = [];
    for (const [name, options] of Object.entries(requests)) {
      const row: string[] = [];
      for (const [which, id] of Object.entries(ids)) {
        if (name === 'GET' && which === 'known') {
          const stream = await client.stream();
          row.push(`${stream.status} ${stream.headers['content-type'] ?? ''}`);
          stream.cut();
          continue;
        }
        const answer = await wire(host.port, { ...options, headers: { ...identityOf('ada'), ...id } });
        row.push(brief(answer));
        if (answer.body !== '' && answer.headers['content-type'] !== 'application/json') html.push(`${name} ${which}`);
      }
      table[name] = row.join(', ');
    }
    assert.deepStrictEqual(
      { table, html },
      {
        table: {
          initialize: '200, 200, 200',
          other: '400 -32000, 404 -32001, 200',
          unknownMethod: '400 -32000, 404 -32001, 200 -32601',
          notification: '400 -32000, 404 -32001, 202',
          notJson: '400 -32700, 400 -32700, 400 -32700',
          batch: '400 -32600, 400 -32600, 400 -32600',
          discover: '200 -32601, 200 -32601, 200 -32601',
          GET: '400 -32000, 404 -32001, 200 text/event-stream',
          DELETE: '400 -32000, 404 -32001, 204',
          PUT: '405 -32000, 405 -32000, 405 -32000',
          PATCH: '405 -32000, 405 -32000, 405 -32000',
          OPTIONS: '405 -32000, 405 -32000, 405 -32000',
        },
        html: [],
      },
    );
    const { headers } = await wire(host.port, { method: 'PUT', headers: identityOf('ada') });
    assert.equal(headers.allow, 'GET, POST, DELETE');
  });

  it('settle the revision, and refuse one in a header that is not known', async () => {
    const settled: Record<string, unknown> = {};
    for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', 'nonsense']) {
      const body = initializeRequest('1', 'x', version);
      const answer = await wire(host.port, { headers: identityOf('ada'), body });
      settled[version] = /"protocolVersion":"([^"]*)"/.exec(answer.body)?.[1];
    }
    const client = await WireClient.initialize(host.port, 'ada');
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const under = async (version?: string): Promise<string> => {
      const { 'mcp-protocol-version': _default, ...headers } = client.headers();
      const named = version === undefined ? headers : { ...headers, 'mcp-protocol-version': version };
      return brief(await wire(host.port, { headers: named, body: list }));
    };
    assert.deepStrictEqual(
      { settled, headers: [await under(), await under('2024-11-05'), await under('2026-07-28'), await under('x')] },
      {
        settled: {
          '2024-11-05': '2024-11-05',
          '2025-03-26': '2025-03-26',
          '2025-06-18': '2025-06-18',
          '2025-11-25': '2025-11-25',
          '2026-07-28': '2025-11-25',
          nonsense: '2025-11-25',
        },
        headers: ['200', '200', '400 -32000', '400 -32000'],
      },
    );
  });

  it('take a second stream for the first and leave everything else alive', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const first = await client.stream();
    const second = await client.stream();
    await waitFor('the first stream to end', () => first.ended());
    const ping = await second.message('ping');
    assert.deepStrictEqual(
      {
        secondOpen: !second.ended(),
        call: brief(await client.call('whoami')),
        answered: brief(await client.post({ jsonrpc: '2.0', id: ping['id'], result: {} })),
        kinds: fleet.kinds().filter((kind) => kind.startsWith('mcp stream')),
        state: fleet.state.agents['ada']?.bindings['bowline-self']?.stream.kind,
      },
      {
        secondOpen: true,
        call: '200',
        answered: '202',
        kinds: ['mcp stream opened', 'mcp stream opened'],
        state: 'open',
      },
    );
    second.cut();
    await waitFor('the closed stream to be told', () => fleet.kinds().at(-1) === 'mcp stream closed');
  });

  it('keep an idle stream open by comments, oftener than every 25 s', async () => {
    await host.kill();
    await start({ longestSilenceMs: 20 });
    const client = await WireClient.initialize(host.port, 'ada');
    const stream = await client.stream();
    await waitFor('three comments', () => stream.text().split(': still here\n\n').length > 3);
    assert.deepStrictEqual([stream.ended(), longestSilence <= 25_000], [false, true]);
    stream.cut();
  });

  it('report the stream of an endpoint as closed when the last of its sessions lost it', async () => {
    const [one, two] = await Promise.all([
      WireClient.initialize(host.port, 'ada', { version: '2.1.160' }),
      WireClient.initialize(host.port, 'ada', { version: '2.1.160' }),
    ]);
    const [first, second] = await Promise.all([one.stream(), two.stream()]);
    const closings = (): number => fleet.ofKind('mcp stream closed').length;
    first.cut();
    await waitFor('the first stream to be gone', () => !host.streams.has(one.session));
    const afterFirst = closings();
    second.cut();
    await waitFor('the second stream to be gone', () => !host.streams.has(two.session));
    assert.deepStrictEqual([afterFirst, closings()], [0, 1]);
  });

  it('end with their launch', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const stream = await client.stream();
    const other = await WireClient.initialize(host.port, 'bo');
    for (const event of launched('ada', now, 'ada.2')) fleet.report(event);
    host.endpoint.prune();
    await waitFor('the stream to end', () => stream.ended());
    await host.sessions.settled();
    assert.deepStrictEqual(
      [
        host.sessions.all().map(({ agent }) => agent),
        host.sessions.endedBecause(client.session),
        brief(await other.call('whoami')),
      ],
      [['bo'], 'launch over', '200'],
    );
  });

  it('are at most eight of one endpoint beside those with a stream', async () => {
    const first = await WireClient.initialize(host.port, 'ada');
    const stream = await first.stream();
    for (let index = 0; index < 12; index++) await WireClient.initialize(host.port, 'ada');
    const sessions = host.sessions.all();
    assert.deepStrictEqual([sessions.length, sessions[0]?.id], [9, first.session]);
    stream.cut();
  });

  it('answer a message over 16 MB with 413 and go on', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const large = await client.call('save_my_context', { context: 'x'.repeat(17 * 1024 * 1024) });
    assert.deepStrictEqual(
      [large.status, typeof large.json, brief(await client.call('whoami'))],
      [413, 'object', '200'],
    );
  });

  describe('of an old client whose stream is gone for good', () => {
    const gone = bindingTimes.olderStreamGoneAfter + 100;

    it('end once, so that it dials anew: all its parallel calls get 404, the new session lives', async () => {
      const client = await WireClient.initialize(host.port, 'ada', { version: '2.1.160' });
      await client.request('tools/list');
      (await client.stream()).cut();
      await waitFor('the closed stream', () => fleet.ofKind('mcp stream closed').length === 1);
      const before = brief(await client.call('whoami'));
      now += gone;
      const calls = await Promise.all(Array.from({ length: 4 }, () => client.call('whoami')));
      const anew = await WireClient.initialize(host.port, 'ada', { version: '2.1.160' });
      const young = await Promise.all([anew.request('tools/list'), anew.call('whoami')]);
      now += gone;
      const withoutStream = await anew.call('whoami');
      const stream = await anew.stream();
      now += gone;
      const withStream = await anew.call('whoami');
      assert.deepStrictEqual(
        {
          before,
          calls: calls.map(brief),
          young: young.map(brief),
          withoutStream: brief(withoutStream),
          withStream: brief(withStream),
          reason: host.sessions.endedBecause(client.session),
        },
        {
          before: '200',
          calls: calls.map(() => '404 -32001'),
          young: ['200', '200'],
          withoutStream: '200',
          withStream: '200',
          reason: 'stream gone for good',
        },
      );
      stream.cut();
    });

    it('end once after an absence with the port closed, and never the one that comes of it', async () => {
      const client = await WireClient.initialize(host.port, 'ada', { version: '2.1.160' });
      await client.request('tools/list');
      const stream = await client.stream();
      await restart('was closed', 60_000);
      stream.cut();
      now += bindingTimes.returnAfterClosedPort;
      const late = await client.call('whoami');
      const anew = await Promise.all([
        WireClient.initialize(host.port, 'ada', { version: '2.1.160' }),
        WireClient.initialize(host.port, 'ada', { version: '2.1.160' }),
      ]);
      const calls = await Promise.all(anew.map((one) => one.call('whoami')));
      assert.deepStrictEqual([brief(late), calls.map(brief)], ['404 -32001', ['200', '200']]);
    });

    it('stay where the port stayed open, where another client asks, and where the client is new', async () => {
      const clients = await Promise.all(
        [{ version: '2.1.160' }, { version: '2.1.160', client: 'other-client' }, { version: '2.1.332' }].map(
          async (options) => {
            const client = await WireClient.initialize(host.port, 'bo', options);
            await client.request('tools/list');
            (await client.stream()).cut();
            return client;
          },
        ),
      );
      const [old, other, recent] = clients;
      const served: string[] = [];
      for (const [client, version, name] of [
        [other, '2.1.160', 'other-client'],
        [recent, '2.1.332', 'claude-code'],
      ] as const) {
        const { state } = fleet;
        fleet.report({
          at: now,
          kind: 'mcp initialized',
          name: 'bo',
          server: 'bowline-self',
          launchId: 'bo.1',
          session: 'x',
          client: { name, version, protocolVersion: '2025-11-25' },
        });
        now += bindingTimes.givesUpAfter * 2;
        served.push(client === undefined ? 'none' : brief(await client.call('whoami')));
        fleet.state = state;
      }
      await restart('kept open', 20_000);
      served.push(old === undefined ? 'none' : brief(await old.call('whoami')));
      assert.deepStrictEqual(served, ['200', '200', '200']);
    });
  });

  it('answer tools/list when it is on disk that they were listed, or when the disk refuses it', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const events: string[] = [];
    let written: () => void = () => undefined;
    fleet.disk = async () => {
      events.push(fleet.kinds().at(-1) ?? 'none');
      await new Promise<void>((resolve) => (written = resolve));
    };
    const listed = client.request('tools/list').then((answer) => events.push(brief(answer)));
    await waitFor('the write', () => events.length === 1);
    assert.equal(brief(await client.call('whoami')), '200');
    events.push('written');
    written();
    await listed;
    fleet.disk = () => Promise.reject(new Error('no space left'));
    events.push(brief(await client.request('tools/list')));
    assert.deepStrictEqual(events, ['mcp tools listed', 'written', '200', '200']);
  });

  it('make the endpoint bound by tools, stream and an answered probe, again after a kill', async () => {
    const health = (): string => {
      const agent = fleet.state.agents['ada'];
      return agent === undefined ? 'none' : bindingHealth(agent, 'bowline-self', fleet.state.epoch, now).state;
    };
    const states = [health()];
    const client = await WireClient.initialize(host.port, 'ada');
    states.push(health());
    await client.request('tools/list');
    const stream = await client.stream();
    states.push(health());
    const ping = await stream.message('ping');
    await client.post({ jsonrpc: '2.0', id: ping['id'], result: {} });
    states.push(health());
    await restart();
    states.push(health());
    const next = await client.stream();
    const second = await next.message('ping');
    await client.post({ jsonrpc: '2.0', id: second['id'], error: { code: -32601, message: 'no ping here' } });
    states.push(health());
    assert.deepStrictEqual(states, ['pending', 'pending', 'suspect', 'bound', 'suspect', 'bound']);
    next.cut();
  });
});
