import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { drained } from '../../../src/gateway/mcp/standingStreams.ts';
import { beginStream, type Fault, FaultyUpstream, sendMessage } from '../../harness/faultyUpstream.ts';
import type { HandUpstreamsOptions } from '../../harness/handUpstreams.ts';
import { answerOf, brief, type RigClient, upstreamName, UpstreamRig } from '../../harness/upstreamRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const times = { setUp: 10_000, answer: 30_000, call: 30_000 };
const introduction = { first: 8_000, anew: 1_000, firstWait: 50, longestWait: 200 };
const result = (id: unknown): object => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'fine' }] } });
const eventOf = (message: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(1_000) } };
const introduced = (id: unknown, protocolVersion = '2025-11-25'): object => ({
  ...{ jsonrpc: '2.0', id },
  result: { protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: 'hostile', version: '0' } },
});
const sound: Fault = (response, id) => {
  sendMessage(response, result(id));
};
/** Writes as long as somebody takes it. */
async function forever(write: () => boolean, response: Parameters<Fault>[0]): Promise<void> {
  while (!response.destroyed) {
    if (!write()) await drained(response);
    await new Promise(setImmediate);
  }
}

/** The upstream is a fake in all of these: no real server does this. */
describe('a hostile upstream over HTTP', () => {
  let rig: UpstreamRig;
  let upstream: FaultyUpstream;
  let client: RigClient;

  async function begin(faults: Readonly<Record<string, Fault>>, options: HandUpstreamsOptions = {}): Promise<void> {
    upstream = await FaultyUpstream.start(faults);
    rig = await UpstreamRig.start({ times, introduction, ...options });
    rig.upstreams.set(upstreamName, upstream.url, { Authorization: 'Bearer hunter2-hunter2' });
    client = await rig.client();
  }

  afterEach(async () => {
    await rig.dispose();
    await upstream.dispose();
  });

  it('that answers in a way of its own gets an error for that call, and the gateway lives', async () => {
    const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const raw =
      (text: string): Fault =>
      (response) => {
        response.socket?.end(text);
      };
    await begin({
      'another protocol': raw('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      'huge headers': raw(`HTTP/1.1 200 OK\r\nX-Huge: ${'x'.repeat(100_000)}\r\n\r\n`),
      'no HTTP': raw('SSH-2.0-OpenSSH_9.6\r\n'),
      'two lengths': raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'),
      'deep error': (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"deep","data":${nested}}}`);
      },
      'error without id': (response) => {
        sendMessage(response, { jsonrpc: '2.0', error: { code: 1, message: 'no id' } });
      },
      sound,
    });
    const answers: Record<string, string> = {};
    for (const name of [
      'another protocol',
      'huge headers',
      'no HTTP',
      'two lengths',
      'deep error',
      'error without id',
    ]) {
      answers[name] = brief(await client.call(name)).replace(/: .*?\. The outcome is unknown.*/, ': unknown');
    }
    const unknown = 'The MCP server "notes" did not answer: unknown';
    assert.deepStrictEqual(
      { answers, next: brief(await client.call('sound')) },
      {
        answers: {
          ...{ 'another protocol': unknown, 'huge headers': unknown, 'no HTTP': unknown, 'two lengths': unknown },
          ...{ 'deep error': 'deep', 'error without id': 'no id' },
        },
        next: 'fine',
      },
    );
  });

  it('that settles on what fits into no header does not stop the gateway when the session is lost', async () => {
    let initialisations = 0;
    await begin({
      initialize: (response, id) => {
        initialisations++;
        const version = initialisations === 1 ? '2025-11-25' : '2025-11-25\r\nX-Injected: yes';
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${initialisations}` });
        response.end(JSON.stringify(introduced(id, version)));
      },
      lost: (response) => {
        response.writeHead(404).end();
      },
      GET: (response) => {
        beginStream(response);
        response.flushHeaders();
      },
    });
    const stream = await client.stream();
    const answer = brief(await client.call('lost'));
    assert.match(answer, /cannot be reached: it wants to speak MCP/);
    stream.cut();
  });

  it('that cuts its streams again and again is asked at intervals', async () => {
    let opened = 0;
    await begin({
      'cut again and again': (response) => {
        beginStream(response);
        response.write(eventOf(note, 'first'), () => setImmediate(() => response.destroy()));
      },
      GET: (response) => {
        opened++;
        beginStream(response);
        response.write(eventOf(note, `event-${opened}`), () => setImmediate(() => response.destroy()));
      },
    });
    const stream = await client.callStream('cut again and again');
    await waitFor('some attempts', () => opened >= 3);
    const began = performance.now();
    const before = opened;
    await waitFor('some more', () => opened >= before + 2);
    const each = (performance.now() - began) / (opened - before);
    stream.cut();
    assert.ok(each > 90, `every ${each} ms`);
  });

  it('whose resumed stream never ends is let go when nobody waits any more', async () => {
    let open = 0;
    await begin({
      'goes on': (response) => {
        beginStream(response);
        response.write(eventOf(note, 'first'), () => setImmediate(() => response.destroy()));
      },
      GET: async (response) => {
        open++;
        response.on('close', () => open--);
        beginStream(response);
        await forever(() => response.write(eventOf(note)), response);
      },
    });
    const stream = await client.callStream('goes on');
    await waitFor('the stream that goes on', () => open === 1 && stream.messages().length > 10);
    stream.cut();
    await waitFor('its end', () => open === 0);
    assert.equal(open, 0);
  });

  it('that never ends an answer which nobody wants is cut', async () => {
    let open = 0;
    const endless: Fault = async (response) => {
      open++;
      response.on('close', () => open--);
      response.writeHead(202);
      await forever(() => response.write('x'.repeat(10_000)), response);
    };
    await begin({ 'notifications/roots/list_changed': endless, sound });
    const { status } = await client.post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
    await waitFor('the end', () => open === 0);
    assert.deepStrictEqual([status, brief(await client.call('sound'))], [202, 'fine']);
  });

  it('that holds up a new session with endless streams is not waited for longer than the limit', async () => {
    let sessions = 0;
    let mayWork = false;
    await begin({
      initialize: (response, id) => {
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${++sessions}` });
        response.end(JSON.stringify(introduced(id)));
      },
      'logging/setLevel': async (response, id) => {
        if (sessions === 1) {
          sendMessage(response, { jsonrpc: '2.0', id, result: {} });
          return;
        }
        beginStream(response);
        await forever(() => response.write(eventOf(note)), response);
      },
      sound: (response, id, request) => {
        mayWork = request.headers['mcp-session-id'] !== 's1';
        if (mayWork) sendMessage(response, result(id));
        else response.writeHead(404).end();
      },
    });
    await client.request('logging/setLevel', { level: 'info' });
    assert.deepStrictEqual([brief(await client.call('sound')), sessions], ['fine', 2]);
  });

  it('with bytes in its session id that are no ASCII is served, also after a kill of the gateway', async () => {
    const id = Buffer.from([0x73, 0xe9, 0xff, 0x21]).toString('latin1');
    const ids: unknown[] = [];
    await begin({
      initialize: (response, requestId) => {
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': id });
        response.end(JSON.stringify(introduced(requestId)));
      },
      sound: (response, requestId, request) => {
        ids.push(request.headers['mcp-session-id']);
        sendMessage(response, result(requestId));
      },
    });
    const first = brief(await client.call('sound'));
    await rig.host.sessions.settled();
    await rig.restartGateway();
    assert.deepStrictEqual([first, brief(await client.call('sound')), ids], ['fine', 'fine', [id, id]]);
  });

  it('that repeats its key in an error has it taken out of what is told and kept', async () => {
    await begin({
      tells: (response, _id, request) => {
        response.writeHead(500).end(`bad token: ${request.headers.authorization ?? ''}, hunter2-hunter2`);
      },
    });
    const answer = brief(await client.call('tells'));
    const kept = JSON.stringify(rig.fleet.events);
    assert.match(answer, /HTTP 500: bad token: <key>, <key>/);
    assert.deepStrictEqual([kept.includes('bad token'), kept.includes('hunter2')], [true, false]);
  });

  it('that answers after it was told of a cancellation is heard no more, and streams of no events reach no agent', async () => {
    let late: (() => void) | undefined;
    await begin({
      slow: (response, id) => {
        late = () => {
          sendMessage(response, result(id));
        };
      },
      GET: (response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>\n\ndata: no event\n\n</html>');
      },
      sound,
    });
    const stream = await client.stream();
    const call = client.post({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params: { name: 'slow' } });
    await waitFor('the call', () => late !== undefined);
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } });
    const cancelled = brief(await call);
    late?.();
    await waitFor('the cancellation', () => upstream.seen.includes('notifications/cancelled'));
    assert.deepStrictEqual(
      [cancelled, brief(await client.call('sound')), stream.text().includes('html')],
      ['Request cancelled', 'fine', false],
    );
    stream.cut();
  });

  it('whose tool has a name that is too long for Claude is served under a shorter one, also after a kill of the gateway', async () => {
    const long = 'a_tool_with_a_name_that_somebody_made_of_a_whole_sentence_and_more';
    const tools = [{ name: 'sound' }, { name: long, inputSchema: { type: 'object' } }];
    let streamed = false;
    await begin({
      'tools/list': (response, id) => {
        const list = { jsonrpc: '2.0', id, result: { tools } };
        if (!streamed) {
          sendMessage(response, list);
          return;
        }
        beginStream(response);
        response.end(eventOf(list, 'e1'));
      },
      [long]: sound,
      sound,
    });
    const listSchema = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) });
    const names = async (): Promise<readonly string[]> =>
      listSchema.parse(answerOf(await client.request('tools/list'))).result.tools.map(({ name }) => name);
    const plain = await names();
    streamed = true;
    const inStream = await names();
    const [, short = ''] = plain;
    const before = brief(await client.call(short));
    await rig.host.sessions.settled();
    await rig.restartGateway();
    const after = [brief(await client.call(short)), brief(await client.call('sound'))];
    const notices = rig.fleet.ofKind('noticed').map(({ notice }) => [notice.code, notice.agent]);
    assert.deepStrictEqual(
      { inStream, length: `mcp__notes__${short}`.length, before, after, called: upstream.seen.slice(-3), notices },
      {
        ...{ inStream: plain, length: 64, before: 'fine', after: ['fine', 'fine'] },
        ...{ called: [long, long, 'sound'], notices: [['tool-name-shortened', 'ada']] },
      },
    );
  });
});
