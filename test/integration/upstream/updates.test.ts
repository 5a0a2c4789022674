import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpUpstream } from '../../harness/httpUpstream.ts';
import { brief, type RigClient, upstreamName, UpstreamRig } from '../../harness/upstreamRig.ts';
import type { WireStream } from '../../harness/mcpWire.ts';
import { waitFor } from '../../harness/waitFor.ts';

/** Short enough for a test, long enough for a busy machine. */
const times = { setUp: 2_000, answer: 20_000, call: 20_000 };

/** A server that takes every request and never answers. */
class SilentServer {
  /** Requests that wait for an answer. */
  open = 0;
  asked = 0;

  private constructor(private readonly server: Server) {
    server.on('request', (_request, response) => {
      this.asked++;
      this.open++;
      response.on('close', () => this.open--);
    });
  }

  static async start(): Promise<SilentServer> {
    const silent = new SilentServer(createServer());
    await new Promise<void>((resolve) => silent.server.listen(0, '127.0.0.1', resolve));
    return silent;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  async kill(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('an update of an upstream', () => {
  let rig: UpstreamRig;
  let former: HttpUpstream;
  let next: HttpUpstream;
  let silent: SilentServer;

  beforeEach(async () => {
    former = await HttpUpstream.start();
    next = await HttpUpstream.start();
    silent = await SilentServer.start();
    rig = await UpstreamRig.start({ times });
    rig.upstreams.set(upstreamName, former.url);
  });

  afterEach(async () => {
    await rig.dispose();
    await Promise.all([former.kill(), next.kill(), silent.kill()]);
  });

  /** A client whose endpoint is bound, with its stream. */
  async function bound(): Promise<{ readonly client: RigClient; readonly stream: WireStream }> {
    const client = await rig.client();
    const stream = await client.stream();
    await client.request('tools/list');
    const ping = await stream.message('ping');
    await client.post({ jsonrpc: '2.0', id: ping['id'], result: {} });
    await waitFor('the endpoint to be bound', () => rig.health() === 'bound');
    return { client, stream };
  }

  const echo = async (client: RigClient, text: string): Promise<string> => brief(await client.call('echo', { text }));
  const told = (from: number): string[] => rig.fleet.kinds(from).filter((kind) => kind.startsWith('upstream'));

  it('that comes upon one which is under way is the one that counts; the agent is told when it is verified', async () => {
    const { client, stream } = await bound();
    const from = rig.fleet.events.length;
    rig.upstreams.set(upstreamName, silent.url);
    await waitFor('the first update', () => silent.asked > 0);
    const during = [rig.health(), stream.messages().some(({ method }) => method !== 'ping')];
    const call = echo(client, 'meanwhile');
    rig.upstreams.set(upstreamName, next.url);
    await stream.message('notifications/tools/list_changed');
    await waitFor('the end of what is over', () => silent.open === 0 && former.servers.length === 0);
    assert.deepStrictEqual(
      { during, call: await call, former: former.calls, next: next.calls, health: rig.health(), told: told(from) },
      {
        ...{ during: ['verifying, changed', false], call: 'meanwhile', former: [], next: ['echo'], health: 'bound' },
        told: ['upstream detached', 'upstream detached', 'upstream answered'],
      },
    );
    stream.cut();
  });

  it('that comes while the agent opens its session is what it opens', async () => {
    rig.upstreams.set(upstreamName, silent.url);
    const opening = rig.client();
    await waitFor('the handshake', () => silent.asked > 0);
    rig.upstreams.set(upstreamName, next.url);
    const client = await opening;
    await waitFor('the end of what is over', () => silent.open === 0);
    assert.deepStrictEqual(
      [
        JSON.stringify(client.introduction).includes('Instructions of the upstream.'),
        await echo(client, 'one'),
        ...[next.initialisations, next.calls, former.seen.length],
      ],
      [true, 'one', 1, ['echo'], 0],
    );
  });

  it('that fails stays marked, whatever the former server still answers, until the present one answers', async () => {
    const { client, stream } = await bound();
    const held = client.call('hold');
    await waitFor('the call', () => former.held === 1);
    const { url } = next;
    await next.kill();
    rig.upstreams.set(upstreamName, url);
    const refused = `connect ECONNREFUSED ${new URL(url).host}`;
    await waitFor('the failure', () => rig.health() === `degraded, changed: ${refused}`);
    former.release();
    const answer = brief(await held);
    const marked = rig.health();
    await next.start();
    await waitFor('the update', () => rig.health() === 'bound');
    assert.deepStrictEqual(
      [answer, marked, await echo(client, 'one'), former.calls, next.calls],
      ['released', `degraded, changed: ${refused}`, 'one', ['hold'], ['echo']],
    );
    stream.cut();
  });

  it('takes calls along that wait for a server which cannot be reached', async () => {
    const { client, stream } = await bound();
    await former.kill();
    const waiting = echo(client, 'one');
    await waitFor('the endpoint to be degraded', () => rig.health().startsWith('degraded'));
    rig.upstreams.set(upstreamName, next.url);
    assert.deepStrictEqual([await waiting, next.calls], ['one', ['echo']]);
    stream.cut();
  });

  it('that the gateway did not live to verify is done by the next run', async () => {
    const { client, stream } = await bound();
    await rig.host.sessions.settled();
    const subject = { at: Date.now(), name: 'ada', server: upstreamName, launchId: 'ada.1' };
    rig.fleet.report({ ...subject, kind: 'upstream detached', why: 'asked' });
    stream.cut();
    await rig.restartGateway();
    const again = await client.stream();
    await waitFor('the verification', () => rig.fleet.ofKind('upstream answered').length > 1);
    assert.deepStrictEqual(
      [former.initialisations, rig.fleet.state.agents['ada']?.bindings[upstreamName]?.update],
      [2, undefined],
    );
    again.cut();
  });

  it('that a person calls off is left to the next call', async () => {
    const { client, stream } = await bound();
    rig.upstreams.set(upstreamName, silent.url);
    await waitFor('the update', () => silent.asked > 0);
    rig.host.endpoint.upstreams.callOff({ agent: 'ada', server: upstreamName });
    const words = 'degraded, changed: reconnecting it was called off; the next call tries it again';
    await waitFor('the end of it', () => rig.health() === words && silent.open === 0);
    rig.host.endpoint.upstreams.callOff({ agent: 'ada', server: upstreamName });
    const { asked } = silent;
    const call = echo(client, 'one');
    await waitFor('the next try', () => silent.asked > asked);
    rig.upstreams.set(upstreamName, next.url);
    assert.deepStrictEqual([await call, rig.health()], ['one', 'bound']);
    stream.cut();
  });

  it('that is asked for ends the session of before, with what is on its way, and makes a new one', async () => {
    const { client, stream } = await bound();
    const held = client.call('hold');
    await waitFor('the call', () => former.held === 1);
    const from = rig.fleet.events.length;
    const { upstreams } = rig.host.endpoint;
    const isKnown = await upstreams.update({ agent: 'ada', server: upstreamName }, { why: 'asked', asker: 'window' });
    const answer = brief(await held);
    await waitFor('the verification', () => rig.health() === 'bound');
    await waitFor('the end of the former session', () => former.servers.length === 1);
    assert.deepStrictEqual(
      [
        isKnown,
        answer.includes('The outcome is unknown'),
        former.initialisations,
        told(from),
        await echo(client, 'one'),
      ],
      [true, true, 2, ['upstream detached', 'upstream answered'], 'one'],
    );
    assert.equal(await upstreams.update({ agent: 'bo', server: upstreamName }, { why: 'asked' }), false);
    stream.cut();
  });

  it('tells the last good call and its time, seldom where all is well', async () => {
    const { client, stream } = await bound();
    const from = rig.fleet.events.length;
    for (let index = 0; index < 20; index++) await client.call('echo', { text: 'one' });
    const record = rig.fleet.state.agents['ada']?.bindings[upstreamName];
    const { at = 0, roundTripMs = -1 } = record?.goodCall ?? {};
    assert.deepStrictEqual(
      [told(from).length <= 1, Date.now() - at < 10_000, roundTripMs > 0 && roundTripMs < 10_000],
      [true, true, true],
    );
    stream.cut();
  });
});
