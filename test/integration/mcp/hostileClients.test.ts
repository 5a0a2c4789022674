import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentRunning, epochStarted, launched, MemoryFleet } from '../../harness/mcpFleet.ts';
import { type McpHost, startMcpHost } from '../../harness/mcpHost.ts';
import { identityOf, initializeRequest, wire, type WireAnswer, WireClient } from '../../harness/mcpWire.ts';
import { RawHttp, statusesOf } from '../../harness/rawHttp.ts';
import { waitFor } from '../../harness/waitFor.ts';

const mega = 1024 * 1024;

describe('clients that do what they must not', () => {
  let directory: string;
  let fleet: MemoryFleet;
  let host: McpHost;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bowline-hostile-'));
    fleet = new MemoryFleet();
    fleet.report(epochStarted('e1', Date.now()));
    for (const name of ['ada', 'bo']) for (const event of agentRunning(name, Date.now())) fleet.report(event);
    host = await startMcpHost({ directory, fleet });
  });

  afterEach(async () => {
    await host.kill();
    await rm(directory, { recursive: true });
  });

  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  /** Sends a body of 100 MB, as far as it is wanted; resolves with the status and how much was sent by then. */
  const sendHuge = (headers: Record<string, string>): Promise<{ readonly status: number; readonly sent: number }> =>
    new Promise((resolve, reject) => {
      let sent = 0;
      let answered = false;
      const outgoing = request({
        ...{ host: '127.0.0.1', port: host.port, method: 'POST', path: '/mcp/bowline-self', agent: false },
        headers: { 'content-type': 'application/json', ...headers },
      });
      const chunk = Buffer.alloc(mega, 'x');
      const write = (): void => {
        while (!answered && sent < 100 * mega) {
          sent += mega;
          if (!outgoing.write(chunk)) {
            outgoing.once('drain', write);
            return;
          }
        }
      };
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        answered = true;
        response.resume();
        outgoing.destroy();
        resolve({ status: response.statusCode ?? 0, sent });
      });
      outgoing.flushHeaders();
      write();
    });

  it('get 413 for 100 MB as soon as it is known, and the memory does not grow with it', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const before = process.memoryUsage().rss;
    const answers = await Promise.all(Array.from({ length: 5 }, () => sendHuge(client.headers())));
    const announced = await RawHttp.connect(host.port);
    const head = Object.entries(client.headers()).map(([name, value]) => `${name}: ${value}\r\n`);
    announced.socket.write(
      `POST /mcp/bowline-self HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n${head.join('')}` +
        `Content-Type: application/json\r\nContent-Length: ${100 * mega}\r\n\r\n{`,
    );
    await waitFor('the answer', () => announced.text.includes('at most 16 MB'));
    announced.socket.destroy();
    const grown = (process.memoryUsage().rss - before) / mega;
    assert.deepStrictEqual(
      {
        statuses: answers.map(({ status }) => status),
        early: answers.every(({ sent }) => sent < 40 * mega),
        announced: statusesOf(announced.text),
        still: (await client.call('whoami')).status,
      },
      { statuses: [413, 413, 413, 413, 413], early: true, announced: ['413'], still: 200 },
    );
    // Each may hold its 16 MB; both ends are in this process.
    assert.ok(grown < 300, `${Math.round(grown)} MB more`);
  });

  it('get 415 for anything but JSON as it stands, and 400 for what is no UTF-8', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const as = async (headers: Record<string, string>): Promise<number> =>
      (await wire(host.port, { headers: { ...client.headers(), ...headers }, body: list })).status;
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonx', ''];
    const answers = await Promise.all(types.map((type) => as({ 'content-type': type })));
    const packed = await as({ 'content-encoding': 'gzip' });
    const sound = [await as({ 'content-type': 'Application/JSON; charset=utf-8' }), await as({})];
    assert.deepStrictEqual([answers, packed, sound], [types.map(() => 415), 415, [200, 200]]);
  });

  it('cannot put a second request into the first, or lines into a header', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const before = fleet.events.length;
    const identity = Object.entries(client.headers())
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    const body = JSON.stringify(list);
    const hidden = `POST /mcp/bowline-self HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n${identity}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const post = (headers: string, content: string, line = '/mcp/bowline-self'): string =>
      `POST ${line} HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nContent-Type: application/json\r\n${headers}\r\n${content}`;
    const tricks: Record<string, string> = {
      'two lengths': post(`Content-Length: 2\r\nContent-Length: ${hidden.length + 2}\r\n`, `{}${hidden}`),
      'length and chunks': post(`Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${hidden}`),
      'chunks spelled oddly': post(`Content-Length: 5\r\nTransfer-Encoding: xchunked\r\n`, `0\r\n\r\n${hidden}`),
      'chunks twice': post(`Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n`, `0\r\n\r\n${hidden}`),
      'a negative length': post('Content-Length: -1\r\n', hidden),
      'a length with a sign': post(`Content-Length: +0\r\n`, hidden),
      'a folded header': post(`X-A: b\r\n Content-Length: 0\r\n`, hidden),
      'a space before the colon': post(`Content-Length : 0\r\n`, hidden),
      'a bare line feed': post(`X-A: b\nContent-Length: 0\r\n`, hidden),
      'a line end in the path': post('', hidden, '/mcp/a\rX:'),
      'no HTTP': `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'\x00'.repeat(40)}`,
      'another host besides': post('Host: evil.example\r\nContent-Length: 2\r\nConnection: close\r\n', '{}'),
      'no host': `POST /mcp/bowline-self HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      'old and no host': `POST /mcp/bowline-self HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}`,
    };
    const answers: Record<string, readonly string[]> = {};
    for (const [name, text] of Object.entries(tricks)) {
      answers[name] = statusesOf(await RawHttp.exchange(host.port, text));
    }
    const refused = Object.values(answers).every((all) => all.length === 1 && ['400', '403'].includes(all[0] ?? ''));
    assert.ok(refused, JSON.stringify(answers));
    assert.deepStrictEqual([fleet.kinds(before), (await client.call('whoami')).status], [[], 200], 'nobody was served');
  });

  it('learn nothing from the session of another, and no error names one', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const unknown = 'A'.repeat(43);
    const as = (session: string, headers: Record<string, string>, verb = 'POST'): Promise<WireAnswer> =>
      wire(host.port, {
        method: verb,
        headers: { ...headers, 'mcp-session-id': session },
        ...(verb === 'POST' && { body: list }),
      });
    for (const verb of ['POST', 'GET', 'DELETE']) {
      const [own, none] = await Promise.all([
        as(client.session, identityOf('bo'), verb),
        as(unknown, identityOf('bo'), verb),
      ]);
      assert.deepStrictEqual([own.status, own.body], [none.status, none.body], verb);
      assert.equal(own.status, 404);
    }
    const stolen = await as(client.session, {
      ...identityOf('ada'),
      authorization: identityOf('bo')['authorization'] ?? '',
    });
    assert.deepStrictEqual([stolen.status, stolen.body.includes(client.session)], [403, false]);
    assert.equal((await client.call('whoami')).status, 200);
  });

  it('are told to wait after 100 failures in a minute, and whoever has the key does not', async () => {
    const wrong = { ...identityOf('ada'), authorization: 'Bearer wrong' };
    const answers = await Promise.all(
      Array.from({ length: 120 }, () => wire(host.port, { headers: wrong, body: initializeRequest() })),
    );
    const limited = answers.filter(({ status }) => status === 429);
    const other = await wire(host.port, { headers: { ...wrong, 'x-agent-name': 'bo' }, body: initializeRequest() });
    const client = await WireClient.initialize(host.port, 'ada');
    assert.deepStrictEqual(
      {
        refused: answers.filter(({ status }) => status === 403).length,
        limited: limited.length,
        wait: limited.every(({ headers }) => Number(headers['retry-after']) > 0),
        json: limited.every(({ json }) => typeof json === 'object'),
        other: other.status,
        right: (await client.call('whoami')).status,
      },
      { refused: 100, limited: 20, wait: true, json: true, other: 403, right: 200 },
    );
  });

  it('that close their half of a stream have closed it', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const head = Object.entries(client.headers()).map(([name, value]) => `${name}: ${value}\r\n`);
    const half = await RawHttp.connect(host.port, { allowHalfOpen: true });
    half.socket.write(`GET /mcp/bowline-self HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n${head.join('')}\r\n`);
    await waitFor('the stream', () => half.text.includes(': open'));
    half.socket.end();
    await waitFor('its end to be told', () => fleet.ofKind('mcp stream closed').length === 1);
    await waitFor('its connection to be closed', () => half.closed);
    assert.deepStrictEqual([host.streams.has(client.session), (await client.call('whoami')).status], [false, 200]);
  });

  it('that stop in the middle keep nobody from being served', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const head = Object.entries(client.headers()).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `POST /mcp/bowline-self HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n`;
    const slow = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const one = await RawHttp.connect(host.port);
        const inBody = `${start}${head.join('')}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"jsonrpc"`;
        one.socket.write([start, 'POST /m', inBody][index % 3] ?? '');
        return one;
      }),
    );
    const calls = await Promise.all(Array.from({ length: 20 }, () => client.call('whoami')));
    assert.deepStrictEqual(
      calls.map(({ status }) => status),
      calls.map(() => 200),
    );
    for (const { socket } of slow) socket.destroy();
  });

  it('that do not read a stream which is over keep nobody from filling the next one', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const former = await client.stream();
    former.pause();
    const part = `: ${'x'.repeat(1_000_000)}\n\n`;
    // More than the sockets of both ends hold.
    for (let megabytes = 0; megabytes < 30; megabytes++) host.streams.events(client.session, part);
    const drained = host.streams.drained(client.session);
    const next = await client.stream();
    await drained;
    host.streams.events(client.session, ': for the next one\n\n');
    await waitFor('the next stream', () => next.text().includes('for the next one'));
    assert.ok(host.streams.has(client.session));
    next.cut();
    former.cut();
  }).timeout(30_000);

  it('whose launch ends while it shakes hands have no session that nothing would end', async () => {
    let release: (definition: undefined) => void = () => undefined;
    let asked = false;
    await host.kill();
    host = await startMcpHost({
      directory,
      fleet,
      servers: [],
      upstreams: {
        definitions: {
          of: () => {
            asked = true;
            return new Promise((resolve) => (release = resolve));
          },
          onDidChange: () => ({ dispose: () => undefined }),
          wantsLogin: () => undefined,
        },
        open: () => {
          throw new Error('there is none');
        },
        beforeUse: () => undefined,
      },
    });
    const agent = fleet.state.agents['ada'];
    assert.ok(agent);
    const servers = { ...agent.configuration.servers, notes: 'on' as const };
    fleet.report({
      at: Date.now(),
      kind: 'agent configured',
      name: 'ada',
      configuration: { ...agent.configuration, servers },
    });
    for (const event of launched('ada', Date.now(), 'ada.2')) fleet.report(event);
    const headers = identityOf('ada', 'ada.2');
    const answer = wire(host.port, { path: '/mcp/notes', headers, body: initializeRequest() });
    await waitFor('the handshake', () => asked);
    for (const event of launched('ada', Date.now(), 'ada.3')) fleet.report(event);
    host.endpoint.prune();
    release(undefined);
    assert.deepStrictEqual([(await answer).status, host.sessions.all()], [404, []]);
  });
});
