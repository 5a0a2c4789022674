import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/mini';
import { type Log, type LogFields, silentLog } from '../../../src/base/log.ts';
import { HttpPool } from '../../../src/gateway/upstream/httpPool.ts';
import { PipeUpstreams } from '../../../src/gateway/upstream/pipeUpstreams.ts';
import { StdioProcesses } from '../../../src/gateway/upstream/stdioProcesses.ts';
import { processIdentity } from '../../../src/node/processIdentity.ts';
import { bundlePrograms } from '../../harness/bundle.ts';
import { identityOf } from '../../harness/mcpWire.ts';
import { findProcesses } from '../../harness/processes.mjs';
import { brief, type RigClient, upstreamName, UpstreamRig } from '../../harness/upstreamRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const stateSchema = z.object({
  pid: z.number(),
  subscribed: z.array(z.string()),
  levels: z.array(z.string()),
  calls: z.array(z.string()),
  cancelled: z.number(),
});

describe('an upstream over stdio', () => {
  let programs: string;
  let directory: string;
  let processes: StdioProcesses;
  let pool: HttpPool;
  let logged: LogFields[];
  let rig: UpstreamRig;

  before(async () => {
    programs = await mkdtemp(join(tmpdir(), 'bowline-programs-'));
    const sdk = join(import.meta.dirname, '../../harness/upstreams/sdkStdioMain.ts');
    await bundlePrograms({ entryPoints: { sdk }, directory: programs });
  });

  after(() => rm(programs, { recursive: true }));

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bowline-'));
    const gateway = await processIdentity(process.pid);
    assert.ok(gateway);
    logged = [];
    const keep = (_message: string, fields?: LogFields): void => {
      logged.push(fields ?? {});
    };
    const log: Log = { ...silentLog, info: keep, warn: keep };
    processes = new StdioProcesses({ directory: join(directory, 'upstreams'), gateway, log });
    pool = new HttpPool();
    const pipes = new PipeUpstreams({ processes, pool, log, clock: Date.now });
    rig = await UpstreamRig.start({ others: (opening) => pipes.open(opening) });
  });

  afterEach(async () => {
    await rig.dispose();
    pool.dispose();
    processes.kill();
    await processes.settled();
    const left = findProcesses(directory);
    await rm(directory, { recursive: true });
    assert.deepStrictEqual(left, []);
  });

  const define = (...words: string[]): void => {
    rig.upstreams.define(upstreamName, {
      kind: 'stdio',
      command: process.execPath,
      args: [join(programs, 'sdk.js'), ...words],
      environment: { PATH: process.env['PATH'] ?? '', MARK: directory, TOKEN: 'the-secret-token' },
      directory,
    });
  };

  const state = async (client: RigClient): Promise<z.infer<typeof stateSchema>> =>
    stateSchema.parse(JSON.parse(brief(await client.call('state'))));

  /** Of a process that was killed just now, its end may come behind a call, whose outcome is unknown then. */
  const stateAtLast = (client: RigClient): ReturnType<typeof state> =>
    waitFor('the state', async () => {
      const answer = brief(await client.call('state'));
      assert.ok(answer.startsWith('{') || answer.includes('The outcome is unknown'), answer);
      return answer.startsWith('{') && stateSchema.parse(JSON.parse(answer));
    });

  it('that is killed while idle comes back with its subscriptions, and the agent learns what may have changed', async () => {
    define();
    const client = await rig.client();
    const stream = await client.stream();
    await client.request('resources/subscribe', { uri: 'note://one' });
    await client.request('logging/setLevel', { level: 'warning' });
    const first = await state(client);
    process.kill(first.pid, 'SIGKILL');
    await waitFor('the failure', () => rig.fleet.ofKind('upstream failed').length > 0);
    await stream.message('notifications/tools/list_changed');
    const second = await state(client);
    assert.deepStrictEqual(
      {
        isAnother: second.pid !== first.pid,
        state: { ...second, pid: 0 },
        told: rig.fleet.kinds().filter((kind) => kind.startsWith('upstream')),
        failures: rig.fleet.ofKind('upstream failed').map(({ detail }) => detail),
        running: findProcesses(directory).length,
      },
      {
        isAnother: true,
        state: { pid: 0, subscribed: ['note://one'], levels: ['warning'], calls: ['state'], cancelled: 0 },
        told: ['upstream answered', 'upstream failed', 'upstream answered'],
        failures: ['its process was ended by SIGKILL'],
        running: 1,
      },
    );
    stream.cut();
  });

  it('that is killed while it works on calls: their outcome is unknown, and the next call works', async () => {
    define();
    const client = await rig.client();
    const { pid } = await state(client);
    const calls = [client.call('hold'), client.call('hold')];
    await waitFor('both calls', async () => (await state(client)).calls.filter((name) => name === 'hold').length === 2);
    process.kill(pid, 'SIGKILL');
    const answers = (await Promise.all(calls)).map(brief);
    const next = brief(await client.call('echo', { text: 'again' }));
    const after = await state(client);
    const sentence =
      'The MCP server "notes" did not answer: its process was ended by SIGKILL. The outcome is unknown: the request may have been carried out. Check before you repeat it.';
    assert.deepStrictEqual(
      { answers, next, calls: after.calls, running: findProcesses(directory).length },
      { answers: [sentence, sentence], next: 'again', calls: ['echo', 'state'], running: 1 },
    );
  });

  it('that is killed again and again, three sessions at once, serves them all in the end with a process each', async () => {
    define();
    const clients = [await rig.client(), await rig.client(), await rig.client('bo')];
    for (let round = 0; round < 3; round++) {
      const pids = (await Promise.all(clients.map(stateAtLast))).map(({ pid }) => pid);
      assert.equal(new Set(pids).size, 3);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await waitFor('all to be gone', () => !findProcesses(directory).some(({ pid }) => pids.includes(pid)));
    }
    await Promise.all(clients.map(stateAtLast));
    const answers = await Promise.all(clients.map((client, index) => client.call('echo', { text: `to ${index}` })));
    assert.deepStrictEqual(
      { answers: answers.map(brief), running: findProcesses(directory).length },
      { answers: ['to 0', 'to 1', 'to 2'], running: 3 },
    );
  });

  it('passes everything: big messages, a giant list of tools, a storm, questions, progress, cancellation', async () => {
    define('giant');
    const client = new Client({ name: 'sdk-1', version: '1' }, { capabilities: { sampling: {}, roots: {} } });
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///work' }] }));
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      ...{ model: 'm', role: 'assistant' as const },
      content: { type: 'text' as const, text: 'word' },
    }));
    let heard = 0;
    client.fallbackNotificationHandler = () => {
      heard++;
      return Promise.resolve();
    };
    const headers = identityOf('ada');
    await client.connect(new StreamableHTTPClientTransport(new URL(rig.url), { requestInit: { headers } }));
    const call = async (name: string, input: object = {}): Promise<string> =>
      brief({
        status: 200,
        headers: {},
        body: '',
        json: { result: await client.callTool({ name, arguments: { ...input } }) },
      });
    const { tools } = await client.listTools();
    const big = await call('large', { size: 12 * 1024 * 1024 });
    const echoed = await call('echo', { text: 'π€🦀'.repeat(200_000) });
    const calm = await call('storm', { count: 5000 });
    const asked = await Promise.all([call('ask'), call('ask')]);
    const progress: number[] = [];
    await client.callTool({ name: 'steps', arguments: {} }, undefined, {
      onprogress: (step) => progress.push(step.progress),
    });
    const abort = new AbortController();
    const held = client.callTool({ name: 'hold', arguments: {} }, undefined, { signal: abort.signal });
    await waitFor('the call', async () => (await call('state')).includes('hold'));
    abort.abort('no more');
    const cancelled = await held.then(String, () => 'cancelled');
    await waitFor('the cancellation', async () => (await call('state')).includes('"cancelled":1'));
    const asks = '{"roots":[{"uri":"file:///work"}],"sampled":{"type":"text","text":"word"}}';
    assert.deepStrictEqual(
      {
        ...{ tools: tools.length, big: big.length, echoed: echoed.length, calm, heard, asked, progress, cancelled },
        health: rig.health(),
      },
      {
        ...{ tools: 10_007, big: 12 * 1024 * 1024, echoed: 800_000, calm: 'calm', heard: 5001, asked: [asks, asks] },
        ...{ progress: [1, 2, 3], cancelled: 'cancelled', health: 'bound' },
      },
    );
    await client.close();
  });

  it('that writes what is no message, and much to its stderr, is served all the same; its secrets are not logged', async () => {
    define('garbage', 'noisy');
    const client = await rig.client();
    const answer = brief(await client.call('echo', { text: 'served' }));
    const texts = logged.map(({ text }) => String(text));
    assert.deepStrictEqual(
      {
        answer,
        noise: texts.filter((text) => /^noise \d+ <text>$/.test(text)).length > 50,
        few: logged.length <= 200,
        secrets: texts.filter((text) => text.includes('the-secret-token')),
      },
      { answer: 'served', noise: true, few: true, secrets: [] },
    );
  });

  it('that cannot run is degraded with its own last words, and others go on', async () => {
    define('broken');
    const client = await rig.client();
    const answer = brief(await client.call('echo', { text: 'x' }));
    assert.match(
      answer,
      /^The MCP server "notes" cannot be reached: its process ended with code 1: .*cannot find its configuration.*The request was not carried out\.$/,
    );
    const told = rig.fleet.ofKind('upstream failed').at(-1)?.detail ?? '';
    assert.match(told, /^its process ended with code 1: .*cannot find its configuration/);
    define();
    assert.equal(
      await waitFor('the mended server', async () => brief(await client.call('echo', { text: 'x' })) === 'x'),
      true,
    );
    assert.equal(rig.fleet.kinds().at(-1), 'upstream answered');
  });

  it('is ended and started anew when a person asks, one after the other, also when it heeds nothing', async () => {
    define('deaf');
    const client = await rig.client();
    const stream = await client.stream();
    const first = await state(client);
    const held = client.call('hold');
    await waitFor('the call', async () => (await state(client)).calls.includes('hold'));
    const most = { running: 0 };
    const looking = setInterval(() => (most.running = Math.max(most.running, findProcesses(directory).length)), 20);
    const name = { agent: 'ada', server: upstreamName };
    await rig.host.endpoint.upstreams.update(name, { why: 'asked', asker: 'window' });
    const answer = brief(await held);
    const second = await state(client);
    clearInterval(looking);
    assert.deepStrictEqual(
      [answer.includes('The outcome is unknown'), second.pid === first.pid, most.running, second.calls],
      [true, false, 1, ['state']],
    );
    stream.cut();
  });

  it('has no process for sessions that its agent has left, and starts one again where it has not', async () => {
    define();
    const clients = [await rig.client(), await rig.client(), await rig.client()];
    await waitFor('the end of the first', () => findProcesses(directory).length === 2);
    const streams = [await clients[2]?.stream()];
    clients.push(await rig.client());
    await waitFor('no more of them', () => findProcesses(directory).length === 3);
    clients.push(await rig.client());
    await waitFor('no more than with streams and the last two', () => findProcesses(directory).length === 3);
    const answers = await Promise.all(clients.map((client) => client.call('echo', { text: 'here' })));
    assert.deepStrictEqual(
      answers.map(brief),
      clients.map(() => 'here'),
    );
    for (const stream of streams) stream?.cut();
  });

  it('ends with the session of the agent, also when it heeds nothing', async () => {
    define('deaf');
    const clients = [await rig.client(), await rig.client('bo')];
    await Promise.all(clients.map(state));
    const running = findProcesses(directory).length;
    await clients[0]?.delete();
    await waitFor('one to be gone', () => findProcesses(directory).length === 1, { timeoutMs: 30_000 });
    await processes.settled();
    const [, other] = clients;
    assert.ok(other);
    assert.deepStrictEqual(
      { running, other: brief(await other.call('echo', { text: 'still here' })) },
      { running: 2, other: 'still here' },
    );
  });
});
