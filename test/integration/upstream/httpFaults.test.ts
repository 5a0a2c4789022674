import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { drained } from '../../../src/gateway/mcp/standingStreams.ts';
import type { HttpTimes } from '../../../src/gateway/upstream/httpExchange.ts';
import { beginStream, type Fault, FaultyUpstream, sendMessage } from '../../harness/faultyUpstream.ts';
import { wireStream } from '../../harness/mcpWire.ts';
import { answerOf, brief, type RigClient, upstreamName, UpstreamRig } from '../../harness/upstreamRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const times = { setUp: 10_000, answer: 30_000, call: 30_000 };
const unknown = 'The outcome is unknown: the request may have been carried out. Check before you repeat it.';
const result = (id: unknown): object => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'fine' }] } });
const eventOf = (message: object): string => `data: ${JSON.stringify(message)}\n\n`;
const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(10_000) } };

describe('an upstream over HTTP that does what it must not', () => {
  let rig: UpstreamRig;
  let upstream: FaultyUpstream;
  let client: RigClient;

  async function begin(faults: Readonly<Record<string, Fault>>, limits: HttpTimes = times): Promise<void> {
    upstream = await FaultyUpstream.start(faults);
    rig = await UpstreamRig.start({ times: limits });
    rig.upstreams.set(upstreamName, upstream.url);
    client = await rig.client();
  }

  afterEach(async () => {
    await rig.dispose();
    await upstream.dispose();
  });

  it('gets a clear error for each, once, and the next call works', async () => {
    await begin({
      'another id': (response) => {
        sendMessage(response, result(4711));
      },
      'another id, streamed': (response) => {
        beginStream(response);
        response.end(eventOf(result(4711)));
      },
      'no UTF-8': (response, id) => {
        const body = Buffer.from(JSON.stringify(result(id)).replace('fine', '?'));
        body[body.indexOf('?')] = 0xff;
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      },
      'no JSON': (response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      },
      nothing: (response) => {
        response.writeHead(202).end();
      },
      torn: (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
        response.write('{"jsonrpc"', () => response.destroy());
      },
      'torn stream': (response) => {
        beginStream(response);
        response.write(`${eventOf(note)}data: {"jsonrpc"`, () => setImmediate(() => response.destroy()));
      },
      'hangs up': (response) => {
        response.destroy();
      },
      'fails with 500': (response) => {
        response.writeHead(500).end('out of order');
      },
      'fails with 422': (response) => {
        response.writeHead(422).end('not like this');
      },
      'an error without an id': (response) => {
        sendMessage(response, { jsonrpc: '2.0', id: null, error: { code: -32603, message: 'its own words' } });
      },
      sound: (response, id) => {
        sendMessage(response, result(id));
      },
    });
    const cases = [
      ...['another id', 'another id, streamed', 'no UTF-8', 'no JSON', 'nothing', 'torn', 'torn stream', 'hangs up'],
      ...['fails with 500', 'fails with 422', 'an error without an id', 'sound'],
    ];
    const answers: Record<string, string> = {};
    const working = ['fails with 422', 'an error without an id', 'sound'];
    for (const name of cases) {
      answers[name] = brief(await client.call(name)).replace(`. ${unknown}`, ' (unknown)');
      await waitFor(`the health after ${name}`, () => {
        const works = rig.fleet.state.agents['ada']?.bindings[upstreamName]?.upstream === undefined;
        return works === working.includes(name);
      });
    }
    const didNot = (words: string): string => `The MCP server "notes" did not answer: ${words} (unknown)`;
    assert.deepStrictEqual(
      { answers, seen: upstream.seen.slice(2) },
      {
        answers: {
          'another id': didNot('it answered another request than this'),
          'another id, streamed': didNot('its stream ended without the answer'),
          'no UTF-8': didNot('its answer is not UTF-8'),
          'no JSON': didNot('its answer is not JSON'),
          nothing: didNot('its answer is empty'),
          torn: didNot('it closed the connection in the middle of its answer'),
          'torn stream': didNot('its stream ended without the answer'),
          'hangs up': didNot('socket hang up'),
          'fails with 500': didNot('HTTP 500: out of order'),
          'fails with 422': 'The MCP server "notes" refused the request: HTTP 422: not like this',
          'an error without an id': 'its own words',
          sound: 'fine',
        },
        seen: cases,
      },
    );
  });

  it('is not waited for beyond the limit, and told that nobody waits', async () => {
    await begin({ silent: () => undefined }, { ...times, call: 1_000 });
    const answer = await client.call('silent');
    await waitFor('the cancellation', () => upstream.seen.includes('notifications/cancelled'));
    assert.deepStrictEqual(
      brief(answer),
      `The MCP server "notes" did not answer: it did not answer within 1 s. ${unknown}`,
    );
  });

  it('fills no memory with a stream that never ends, one event or many', async () => {
    let written = 0;
    await begin({
      'one event': async (response) => {
        beginStream(response);
        const part = Buffer.alloc(1024 * 1024, 'x');
        while (!response.destroyed) if (!response.write(part)) await drained(response);
      },
      many: async (response, id) => {
        beginStream(response);
        for (; written < 5_000 && !response.destroyed; written++) {
          if (!response.write(eventOf(note))) await drained(response);
        }
        response.end(eventOf(result(id)));
      },
    });
    const one = brief(await client.call('one event'));
    const stream = await wireStream(rig.host.port, {
      ...{ method: 'POST', path: `/mcp/${upstreamName}`, headers: client.headers },
      body: { jsonrpc: '2.0', id: 'many', method: 'tools/call', params: { name: 'many' } },
    });
    // Nobody reads; what fits into the buffers of four sockets is far below the 50 MB that would come.
    stream.pause();
    let before = -1;
    await waitFor(
      'the upstream to be held up',
      () => {
        const still = written === before && written > 0;
        before = written;
        return still;
      },
      { everyMs: 200 },
    );
    const heldAt = written;
    stream.resume();
    await waitFor('the end', () => stream.ended());
    const last = stream.messages().at(-1);
    assert.deepStrictEqual(
      { one, held: heldAt < 4_000, count: stream.messages().length, last },
      {
        one: `The MCP server "notes" did not answer: one event of its stream is larger than 16 MB. ${unknown}`,
        held: true,
        count: 5_001,
        last: result('many'),
      },
    );
  });

  it('is followed to another path of its own, but to no other address', async () => {
    await begin({
      moved: (response, id, request) => {
        if (request.url === '/mcp/') sendMessage(response, result(id));
        else response.writeHead(307, { location: '/mcp/' }).end();
      },
      away: (response) => {
        response.writeHead(307, { location: 'http://127.0.0.2:9/mcp' }).end();
      },
    });
    assert.deepStrictEqual(
      [brief(await client.call('moved')), brief(await client.call('away'))],
      [
        'fine',
        'The MCP server "notes" cannot be reached: it redirects to another address (HTTP 307): http://127.0.0.2:9. The request was not carried out.',
      ],
    );
  });

  it('is asked again where it closed before the request was sent, until it takes it', async () => {
    await begin({
      sound: (response, id) => {
        sendMessage(response, result(id));
      },
    });
    let refused = 0;
    const target = new URL(upstream.url);
    // Stands for a server that comes up: its first connections are reset at once, the later ones are those of the upstream.
    const door = createServer((socket) => {
      socket.on('error', () => undefined);
      if (refused < 3) {
        refused++;
        socket.resetAndDestroy();
        return;
      }
      const inner = connect(Number(target.port), '127.0.0.1');
      inner.on('error', () => socket.destroy());
      socket.pipe(inner).pipe(socket);
    });
    door.listen(0, '127.0.0.1');
    await once(door, 'listening');
    const address = door.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    rig.upstreams.set(upstreamName, `http://127.0.0.1:${port}/mcp`);
    const answer = await client.call('sound');
    assert.deepStrictEqual([brief(answer), refused, typeof answerOf(answer)], ['fine', 3, 'object']);
    rig.upstreams.pool.dispose();
    door.close();
  });
});
