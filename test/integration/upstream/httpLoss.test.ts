import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { HttpUpstream } from '../../harness/httpUpstream.ts';
import { answerOf, brief, upstreamName, UpstreamRig } from '../../harness/upstreamRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

/** Short enough for a test, long enough for a busy machine. */
const times = { setUp: 3_000, answer: 3_000, call: 6_000 };

describe('an upstream over HTTP', () => {
  let rig: UpstreamRig;
  let upstream: HttpUpstream;

  async function begin(options: HttpUpstream['options'] = {}): Promise<void> {
    upstream = await HttpUpstream.start(options);
    rig = await UpstreamRig.start({ times });
    rig.upstreams.set(upstreamName, upstream.url);
  }

  afterEach(async () => {
    await rig.dispose();
    await upstream.kill();
  });

  for (const lostStatus of [404, 400, 503] as const) {
    it(`that was restarted and answers ${lostStatus} is initialised anew in one flight, and nobody notices`, async () => {
      await begin({ lostStatus });
      const client = await rig.client();
      const stream = await client.stream();
      await client.request('tools/list');
      await client.request('resources/subscribe', { uri: 'note://one' });
      await client.request('resources/subscribe', { uri: 'note://two' });
      await client.request('resources/unsubscribe', { uri: 'note://two' });
      await client.request('logging/setLevel', { level: 'warning' });
      await waitFor('the standing stream at the upstream', () => upstream.seen.some(({ verb }) => verb === 'GET'));
      await upstream.kill();
      upstream.subscribed.length = 0;
      upstream.levels.length = 0;
      upstream.seen.length = 0;
      upstream.calls.length = 0;
      await upstream.start();
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => client.call('echo', { text: `text ${index}` })),
      );
      const changed = await stream.message('notifications/tools/list_changed');
      await waitFor('what the upstream sends by itself', async () => {
        await Promise.all(upstream.servers.map((server) => server.sendResourceUpdated({ uri: 'note://one' })));
        return stream.messages().some(({ method }) => method === 'notifications/resources/updated');
      });
      assert.deepStrictEqual(
        {
          answers: answers.map(brief),
          initialisations: upstream.initialisations,
          calls: upstream.calls.length,
          subscribed: upstream.subscribed,
          levels: upstream.levels,
          changed: changed['method'],
          session: rig.host.sessions.get(client.session)?.upstream?.subscriptions,
        },
        {
          answers: Array.from({ length: 10 }, (_, index) => `text ${index}`),
          initialisations: 1,
          calls: 10,
          subscribed: ['note://one'],
          levels: ['warning'],
          changed: 'notifications/tools/list_changed',
          session: ['note://one'],
        },
      );
      stream.cut();
    });
  }

  for (const lostStatus of [404, 400, 503] as const) {
    it(`that was away and answers ${lostStatus} is found again while nobody calls`, async () => {
      await begin({ lostStatus });
      const client = await rig.client();
      await client.request('tools/list');
      const stream = await client.stream();
      const ping = await stream.message('ping');
      await client.post({ jsonrpc: '2.0', id: ping['id'], result: {} });
      await waitFor('the standing stream at the upstream', () => upstream.seen.some(({ verb }) => verb === 'GET'));
      await upstream.kill();
      await waitFor('the endpoint to be degraded', () => rig.health() === `degraded: ${refused(upstream)}`);
      await upstream.start();
      await stream.message('notifications/tools/list_changed');
      assert.deepStrictEqual([rig.health(), upstream.initialisations], ['bound', 2]);
      stream.cut();
    });
  }

  it('that is killed while it works on a call: the outcome is unknown, and nothing is repeated', async () => {
    await begin();
    const client = await rig.client();
    const call = client.call('hold');
    await waitFor('the call', () => upstream.held === 1);
    await upstream.restart();
    const answer = brief(await call);
    const { calls } = upstream;
    const next = brief(await client.call('echo', { text: 'again' }));
    assert.deepStrictEqual(
      [answer.replace(/: .*\. The outcome/, ': .... The outcome'), calls, next],
      [
        'The MCP server "notes" did not answer: .... The outcome is unknown: the request may have been carried out. Check before you repeat it.',
        ['hold', 'echo'],
        'again',
      ],
    );
  });

  it('that is away is waited for, and told of when it stays away; then the endpoint is degraded, and back', async () => {
    await begin();
    const client = await rig.client();
    await client.request('tools/list');
    const stream = await client.stream();
    const ping = await stream.message('ping');
    await client.post({ jsonrpc: '2.0', id: ping['id'], result: {} });
    const health = [rig.health()];
    await upstream.kill();
    const waiting = client.call('echo', { text: 'late' });
    await waitFor('the endpoint to be degraded', () => rig.health().startsWith('degraded'));
    await upstream.start();
    const late = brief(await waiting);
    health.push(await waitFor('the endpoint to be back', () => rig.health() === 'bound' && rig.health()));
    await upstream.kill();
    const never = await client.call('echo', { text: 'never' });
    health.push(rig.health());
    await upstream.start();
    health.push(brief(await client.call('echo', { text: 'back' })), rig.health());
    assert.deepStrictEqual(
      { late, never: brief(never), health, calls: upstream.calls },
      {
        late: 'late',
        never: `The MCP server "notes" cannot be reached: ${refused(upstream)}. The request was not carried out.`,
        health: ['bound', 'bound', `degraded: ${refused(upstream)}`, 'back', 'bound'],
        calls: ['echo', 'echo'],
      },
    );
    stream.cut();
  });

  it('goes on with its session after a kill of the gateway', async () => {
    await begin();
    const client = await rig.client();
    await client.request('resources/subscribe', { uri: 'note://one' });
    await rig.host.sessions.settled();
    await rig.restartGateway();
    const answers = await Promise.all([client.call('echo', { text: 'one' }), client.call('echo', { text: 'two' })]);
    await rig.restartGateway();
    await upstream.restart();
    const healed = await client.call('echo', { text: 'three' });
    assert.deepStrictEqual(
      [answers.map(brief), brief(healed), upstream.initialisations, upstream.subscribed],
      [['one', 'two'], 'three', 2, ['note://one', 'note://one']],
    );
  });

  it('that is away when the agent comes is stood in for, and announced when it is there', async () => {
    upstream = await HttpUpstream.start();
    await upstream.kill();
    rig = await UpstreamRig.start({
      times: { ...times, setUp: 300 },
      introduction: { first: 500, anew: 3_000, firstWait: 50, longestWait: 200 },
    });
    rig.upstreams.set(upstreamName, upstream.url);
    const client = await rig.client();
    const stream = await client.stream();
    const list = await client.request('tools/list');
    const ping = await stream.message('ping');
    await client.post({ jsonrpc: '2.0', id: ping['id'], result: {} });
    const health = rig.health();
    await upstream.start();
    await stream.message('notifications/tools/list_changed');
    const tools = answerOf(await client.request('tools/list'));
    assert.deepStrictEqual(
      { list: brief(list), health, tools: JSON.stringify(tools).includes('"echo"'), after: rig.health() },
      {
        list: `The MCP server "notes" cannot be reached: ${refused(upstream)}. The request was not carried out.`,
        health: `degraded: ${refused(upstream)}`,
        tools: true,
        after: 'bound',
      },
    );
    stream.cut();
  });

  it('that says nothing, at first or later, keeps no client from the end of its handshake or from a notification', async () => {
    upstream = await HttpUpstream.start();
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const long = 600_000;
    rig = await UpstreamRig.start({
      times: { setUp: long, answer: long, call: long },
      introduction: { first: 200, anew: long, firstWait: 50, longestWait: 200 },
    });
    const address = silent.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    rig.upstreams.set(upstreamName, `http://127.0.0.1:${address.port}/mcp`);
    await rig.client();
    rig.upstreams.set(upstreamName, upstream.url);
    const client = await rig.client('bo');
    await upstream.kill();
    const { status } = await client.post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
    assert.deepStrictEqual([rig.health(), rig.health('bo'), status], ['pending', 'pending', 202]);
    silent.closeAllConnections();
    silent.close();
  });

  it('that another definition names is swapped live, and the client is told to ask anew', async () => {
    await begin();
    const other = await HttpUpstream.start();
    const client = await rig.client();
    const stream = await client.stream();
    const before = brief(await client.call('echo', { text: 'before' }));
    rig.upstreams.set(upstreamName, other.url, { 'X-Key': 'secret' });
    await stream.message('notifications/tools/list_changed');
    const after = brief(await client.call('echo', { text: 'after' }));
    assert.deepStrictEqual(
      [before, after, upstream.calls, other.calls, other.seen.at(-1)?.headers['x-key']],
      ['before', 'after', ['echo'], ['echo'], 'secret'],
    );
    stream.cut();
    await other.kill();
  });

  it('is told when the session of the agent is over', async () => {
    await begin();
    const client = await rig.client();
    await client.call('echo', { text: 'one' });
    const before = upstream.servers.length;
    await client.delete();
    await waitFor('the end of its session', () => upstream.servers.length === 0);
    assert.deepStrictEqual([before, (await client.call('echo')).status], [1, 404]);
  });

  it('that wants a login, other credentials or has another certificate fails at once', async () => {
    await begin({ refuse: 401 });
    const client = await rig.client();
    const seen = upstream.seen.length;
    const refusal = brief(await client.call('echo'));
    const tries = upstream.seen.length - seen;
    const { loginsWanted } = rig.upstreams;
    const wanted = loginsWanted.length;
    rig.upstreams.set(upstreamName, upstream.url, { Authorization: 'Bearer of-before' });
    await client.call('echo');
    rig.upstreams.set(upstreamName, upstream.url.replace('http:', 'https:'));
    const began = performance.now();
    const tls = brief(await client.call('echo'));
    assert.deepStrictEqual(
      [
        refusal,
        tries,
        wanted > 0,
        loginsWanted.length - wanted,
        tls.includes('cannot be reached'),
        performance.now() - began < times.setUp,
      ],
      [
        'The MCP server "notes" cannot be reached: it refuses the credentials (HTTP 401). The request was not carried out.',
        ...[1, true, 0, true, true],
      ],
    );
  });
});

function refused(upstream: HttpUpstream): string {
  return `connect ECONNREFUSED 127.0.0.1:${new URL(upstream.url).port}`;
}
