import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { delay } from '../../../src/base/async.ts';
import { silentLog } from '../../../src/base/log.ts';
import { readEndpointFile } from '../../../src/node/endpointFile.ts';
import { ensureHolder, liveHolder } from '../../../src/node/gatewayLauncher.ts';
import { GatewayUpdate } from '../../../src/node/gatewayUpdate.ts';
import { copyPrograms, installPrograms } from '../../../src/node/programs.ts';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import {
  bundleGatewayPrograms,
  call,
  type GatewayPrograms,
  GatewayRig,
  runHookLine,
} from '../../harness/gatewayRig.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { kill } from '../../harness/holderRig.ts';
import { initializeRequest } from '../../harness/mcpWire.ts';
import { waitFor } from '../../harness/waitFor.ts';

const limit = { timeoutMs: 60_000 };

/** Calls in a loop, on one client, until it is stopped. */
interface CallLoop {
  readonly calls: number;
  readonly errors: readonly string[];
  stop(): Promise<void>;
}

function loop(once: () => Promise<unknown>, pauseMs: () => number = () => 0): CallLoop {
  const counts = { calls: 0, errors: [] as string[], stopped: false };
  const running = (async () => {
    while (!counts.stopped) {
      try {
        await once();
        counts.calls += 1;
      } catch (error) {
        const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
        counts.errors.push(`${String(error)}${cause} after ${counts.calls} calls`);
      }
      await delay(pauseMs());
    }
  })();
  return {
    get calls() {
      return counts.calls;
    },
    get errors() {
      return counts.errors;
    },
    stop: () => {
      counts.stopped = true;
      return running;
    },
  };
}

describe('another version takes over', function () {
  this.timeout(180_000);
  let programs: GatewayPrograms;
  let rig: GatewayRig;
  let scratch: string;
  const stops: (() => Promise<unknown>)[] = [];

  before(async () => {
    // What is not used any more goes half a minute after a start.
    const cut = { file: 'gateway/main.ts', from: 'removeUnusedAfterMs = 30_000', to: 'removeUnusedAfterMs = 1_000' };
    programs = await bundleGatewayPrograms(cut);
  });
  after(() => {
    programs.dispose();
  });
  beforeEach(() => {
    rig = new GatewayRig(programs);
    scratch = mkdtempSync(join(tmpdir(), 'bowline-takeover-'));
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await rig.dispose();
    rmSync(scratch, { recursive: true, force: true });
  });

  /** Starts the launcher's loop with the programs under this version. */
  function start(version: string, nodes = [process.execPath], distDirectory = programs.directory): Promise<Endpoint> {
    const install = (): Promise<string> => installPrograms({ distDirectory, version, paths: rig.paths, nodes });
    return ensureHolder({ paths: rig.paths, install, log: silentLog, ...limit });
  }

  /** Installs beside what runs; resolves with the name. */
  async function copy(version: string, distDirectory = programs.directory): Promise<string> {
    return basename(await copyPrograms({ distDirectory, version, paths: rig.paths, nodes: [process.execPath] }));
  }

  async function endpoint(): Promise<Endpoint> {
    const reading = await readEndpointFile(rig.paths);
    assert.ok(reading.kind === 'ok');
    return reading.endpoint;
  }

  async function untilRuns(version: string): Promise<Endpoint> {
    return waitFor(
      `the gateway of ${version}`,
      async () => {
        const present = await endpoint();
        return present.version === version && present;
      },
      limit,
    );
  }

  const gatewayPid = async (): Promise<number | undefined> => (await liveHolder(rig.paths))?.child?.pid;

  const current = (): string => readFileSync(rig.paths.currentVersion, 'utf8').trim();

  /** A window that has the hands and comes back when the gateway ends, so that no agent is looked for in tmux. */
  async function keepWindow(first: Endpoint): Promise<{ readonly window: () => WindowStandIn }> {
    let window = await WindowStandIn.join(first, 'one');
    const end = new AbortController();
    const watching = (async () => {
      while (!end.signal.aborted) {
        if (window.closed !== undefined) window = await WindowStandIn.join(first, 'one').catch(() => window);
        await delay(20);
      }
    })();
    stops.push(async () => {
      end.abort();
      await watching;
      window.close();
    });
    return { window: () => window };
  }

  /** A running agent, as far as the gateway knows: the headers of its requests. */
  async function agent(window: WindowStandIn, name: string): Promise<Record<string, string>> {
    await window.ask({ kind: 'create', name, directory: rig.directory() });
    const launchId = await window.launch(name);
    const key = readFileSync(rig.paths.agent(name).key, 'utf8').trim();
    return { 'x-agent-name': name, 'x-agent-launch': launchId, authorization: `Bearer ${key}` };
  }

  it('loses no call: clients in a loop, a slow call under way, connections that pause, hooks', async () => {
    const first = await start('1.0.0');
    const unused = await copy('0.9.0');
    const old = new Date(Date.now() - 7_200_000);
    await utimes(join(rig.paths.versions, unused), old, old);
    const { window } = await keepWindow(first);
    const headers = await agent(window(), 'ada');
    const url = new URL(`http://127.0.0.1:${first.port}/mcp/bowline-self`);
    const requestInit = { headers };
    const reconnectionOptions = {
      ...{ initialReconnectionDelay: 20, maxReconnectionDelay: 200 },
      ...{ reconnectionDelayGrowFactor: 1.5, maxRetries: 100 },
    };
    const transports = [
      new Transport1(url, { requestInit, reconnectionOptions }),
      new Transport1(url, { requestInit, reconnectionOptions }),
    ];
    const others = [
      new Transport2(url, { requestInit, reconnectionOptions }),
      new Transport2(url, { requestInit, reconnectionOptions }),
    ];
    const loops: CallLoop[] = [];
    for (const transport of transports) {
      const client = new Client1({ name: 'sdk-1', version: '1' });
      await client.connect(transport);
      stops.push(() => client.close());
      loops.push(loop(() => client.callTool({ name: 'whoami', arguments: {} })));
    }
    for (const transport of others) {
      const client = new Client2({ name: 'client-2', version: '1' });
      await client.connect(transport);
      stops.push(() => client.close());
      loops.push(loop(() => client.callTool({ name: 'list_agents', arguments: {} })));
    }
    // By hand: nothing is tried again, and a pause leaves the connection idle at any moment.
    const agents = [1, 2, 3, 4].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
    for (const connection of agents) {
      const session = await post(connection, headers, initializeRequest());
      const own = { ...headers, 'mcp-session-id': String(session.headers['mcp-session-id']) };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } };
      const once = async (): Promise<void> => {
        const { status, answer } = await post(connection, own, body);
        if (status !== 200 || !answer.includes('ada')) throw new Error(`${status} ${answer}`);
      };
      loops.push(loop(once, () => Math.random() * 30));
      stops.push(() => {
        connection.destroy();
        return Promise.resolve();
      });
    }
    const line = `'${rig.paths.launcher}' hook ada ${headers['x-agent-launch'] ?? ''}`;
    const stopHook = JSON.stringify({ hook_event_name: 'Stop', session_id: 's1', transcript_path: '/t', cwd: '/' });
    const hookEnds: (number | null)[] = [];
    loops.push(
      loop(
        async () => {
          hookEnds.push((await runHookLine(line, stopHook)).code);
        },
        () => 200,
      ),
    );
    stops.unshift(() => Promise.all(loops.map((one) => one.stop())));
    await waitFor('calls of every client', () => loops.every(({ calls }) => calls > 0), limit);
    const sessions = [...transports, ...others].map(({ sessionId }) => sessionId);

    const slow = slowPost(first.port, headers, initializeRequest());
    const next = await copy('1.1.0');
    const asked = await call(first, 'POST', '/takeover', { version: next });
    const sum = (): number => loops.reduce((total, { calls }) => total + calls, 0);
    const before = sum();
    await waitFor('many calls while a slow one is under way', () => sum() > before + 100, limit);
    const whileSlow = (await endpoint()).gateway.instance;
    const slowAnswer = await slow.finish();
    const second = await untilRuns(next);
    const counts = loops.map(({ calls }) => calls);
    await waitFor(
      'calls of every client',
      () => loops.every(({ calls }, index) => calls > (counts[index] ?? 0) + 1),
      limit,
    );
    await waitFor('the version in use', () => current() === next, limit);
    await waitFor('the end of what is unused', () => !existsSync(join(rig.paths.versions, unused)), limit);
    await Promise.all(loops.map((one) => one.stop()));
    assert.deepStrictEqual(
      {
        asked: asked.status,
        whileSlow,
        slow: slowAnswer,
        errors: loops.flatMap(({ errors }) => errors),
        hooks: [...new Set(hookEnds)],
        sessions: [...transports, ...others].map(({ sessionId }) => sessionId),
        same: [second.port, second.token, second.holder.instance],
        versions: (await readdir(rig.paths.versions)).sort(),
        epoch: window().state.epoch?.port,
      },
      {
        asked: 202,
        whileSlow: first.gateway.instance,
        slow: 200,
        errors: [],
        hooks: [0],
        sessions,
        same: [first.port, first.token, first.holder.instance],
        versions: [first.version, next, 'current', 'nodes'],
        epoch: 'kept open',
      },
    );
  });

  it('falls back to the version before, says so once, and does not try again at once', async () => {
    rig.startHolder(8_000);
    const first = await rig.up();
    const ready = `process.send({ kind: 'ready' });`;
    const cases = [
      { version: '1.0.1', text: 'process.exit(7)', instead: 'same run' },
      { version: '1.0.2', text: 'setInterval(() => undefined, 1000)', instead: 'same run' },
      { version: '1.0.3', text: `${ready} process.once('message', () => process.exit(7))`, instead: 'new run' },
      {
        version: '1.0.4',
        text: `${ready} process.once('message', () => process.send({ kind: 'heartbeat' }, () => process.exit(8)))`,
        instead: 'new run',
      },
    ];
    const seen: unknown[] = [];
    for (const [index, { version, text: program }] of cases.entries()) {
      const dist = join(scratch, version);
      cpSync(programs.directory, dist, { recursive: true });
      await writeFile(join(dist, 'gateway.js'), program);
      const name = await copy(version, dist);
      const before = await gatewayPid();
      const asked = await call(first, 'POST', '/takeover', { version: name });
      const notices = await waitFor(
        `the notice about ${version}`,
        async () => {
          const window = await WindowStandIn.join(first, 'one', 'not offered');
          const { state } = window;
          window.close();
          return state.notices.length > index && state.notices.map(({ sentence }) => sentence);
        },
        limit,
      );
      seen.push([
        asked.status,
        (await endpoint()).version === first.version,
        (await gatewayPid()) === before ? 'same run' : 'new run',
        /Bowline (\S+) could not take over \(([^)]*)\)/.exec(notices.at(-1) ?? '')?.slice(1),
      ]);
      if (index < cases.length - 1) continue;
      const again = await call(first, 'POST', '/takeover', { version: name });
      const window = await WindowStandIn.join(first, 'one', 'not offered');
      const { sentence } = await waitFor('the second answer', () => window.state.notices[cases.length], limit);
      window.close();
      seen.push([again.status, /could not take over \(([^)]*)\)/.exec(sentence)?.[1]]);
    }
    assert.deepStrictEqual(
      [...seen, existsSync(rig.paths.currentVersion), (await endpoint()).holder.instance],
      [
        [202, true, 'same run', ['1.0.1', 'it ended with 7']],
        [202, true, 'same run', ['1.0.2', 'it did not load in time']],
        [202, true, 'new run', ['1.0.3', 'it ended with 7']],
        [202, true, 'new run', ['1.0.4', 'it ended with 8']],
        [202, 'it failed a few minutes ago'],
        false,
        first.holder.instance,
      ],
    );
  });

  it('comes to one gateway whoever dies on the way', async () => {
    const first = await start('1.0.0');
    const { window } = await keepWindow(first);
    const headers = await agent(window(), 'ada');
    const slow = slowPost(first.port, headers, initializeRequest());
    const successor = (name: string): Promise<number> =>
      waitFor(
        `the successor ${name}`,
        () =>
          rig.processes().find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${name}/gateway.js`)),
        limit,
      );
    const one = await copy('1.0.1');
    await call(first, 'POST', '/takeover', { version: one });
    kill(await successor(one), 'SIGKILL');
    const { sentence } = await waitFor('the notice', () => window().state.notices.at(-1), limit);
    const answered = await slow.finish();
    const afterOne = (await endpoint()).gateway.instance;

    const cut = slowPost(first.port, headers, initializeRequest());
    const two = await copy('1.0.2');
    await call(first, 'POST', '/takeover', { version: two });
    const pid = await successor(two);
    kill(first.gateway.pid, 'SIGKILL');
    await assert.rejects(cut.finish());
    const second = await untilRuns(two);
    await waitFor('the version in use', () => current() === two, limit);
    assert.deepStrictEqual(
      {
        sentence: /could not take over \(([^)]*)\)/.exec(sentence)?.[1],
        answered,
        afterOne,
        second: [second.gateway.pid, second.holder.instance],
        agents: Object.keys(window().state.agents),
      },
      {
        sentence: 'it ended with SIGKILL',
        answered: 200,
        afterOne: first.gateway.instance,
        second: [pid, first.holder.instance],
        agents: ['ada'],
      },
    );
  });

  it('takes orders only with the token, and only for what is installed and not older', async () => {
    const first = await start('1.0.0');
    const older = await copy('0.9.9');
    mkdirSync(join(rig.paths.versions, 'half-00000000'));
    const ask = async (body: unknown, headers?: Record<string, string>): Promise<unknown> => {
      const answer = await call(first, 'POST', '/takeover', body, headers);
      return [answer.status, /"code":"([^"]+)"/.exec(JSON.stringify(answer.body))?.[1]];
    };
    const answers = [
      await ask({ version: first.version }, {}),
      await ask({ version: older }),
      await ask({ version: '9.9.9-00000000' }),
      await ask({ version: 'half-00000000' }),
      await ask({ version: `../versions/${first.version}` }),
      await ask({}),
      await ask({ version: first.version }),
    ];
    assert.deepStrictEqual(
      [answers, (await call(first, 'GET', '/takeover')).status, (await endpoint()).gateway.instance],
      [
        [
          [401, 'unauthorized'],
          [409, 'takeover-refused'],
          [400, 'bad-request'],
          [400, 'bad-request'],
          [400, 'bad-request'],
          [400, 'bad-request'],
          [202, undefined],
        ],
        405,
        first.gateway.instance,
      ],
    );
  });

  it('goes on when extension and editor are gone: hooks, the next version, a killed gateway', async () => {
    const editor = async (name: string): Promise<string> => {
      const node = join(scratch, name, 'code');
      await mkdir(join(scratch, name));
      await link(process.execPath, node).catch(() => copyFile(process.execPath, node));
      return node;
    };
    const dist = join(scratch, 'extension');
    cpSync(programs.directory, dist, { recursive: true });
    const [node, nextNode] = [await editor('editor'), await editor('next editor')];
    const first = await start('1.0.0', [node], dist);
    const { window } = await keepWindow(first);
    const { 'x-agent-launch': launchId = '' } = await agent(window(), 'ada');
    const codes: (number | null)[] = [];
    const hook = async (sessionId: string): Promise<void> => {
      const payload = { hook_event_name: 'SessionStart', session_id: sessionId, source: 'startup', cwd: '/' };
      const line = `'${rig.paths.launcher}' hook ada '${launchId}'`;
      codes.push((await runHookLine(line, JSON.stringify({ ...payload, transcript_path: '/t' }))).code);
      const isReported = (): boolean => window().state.agents['ada']?.session?.id === sessionId;
      await waitFor(`the report of ${sessionId}`, isReported, limit);
    };
    const programOf = async (): Promise<string | undefined> => {
      const { pid } = (await endpoint()).gateway;
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0];
    };
    const ranOn = [await programOf()];
    rmSync(dirname(node), { recursive: true });
    rmSync(dist, { recursive: true });
    await hook('s1');

    // A window of the next version: its editor brings a Node, and the holder, whose own is gone, uses it.
    const next = { distDirectory: programs.directory, version: '1.1.0', paths: rig.paths, nodes: [nextNode] };
    const name = basename(await copyPrograms(next));
    await call(first, 'POST', '/takeover', { version: name });
    const second = await untilRuns(name);
    ranOn.push(await programOf());
    await hook('s2');
    await waitFor('the version in use', () => current() === name, limit);

    // No Node is left that a window has named, and the gateway dies.
    rmSync(dirname(nextNode), { recursive: true });
    kill(second.gateway.pid, 'SIGKILL');
    const third = await rig.up({ not: second });
    await hook('s3');
    assert.deepStrictEqual(
      {
        ranOn,
        codes,
        ports: [second.port, third.port],
        versions: [second.version, third.version],
        holders: [second.holder.instance === first.holder.instance, third.holder.instance === first.holder.instance],
      },
      {
        ranOn: [node, nextNode],
        codes: [0, 0, 0],
        ports: [first.port, first.port],
        versions: [name, name],
        holders: [true, false],
      },
    );
  });

  it('follows the newest of several windows, and no older one takes it back', async () => {
    const told: string[] = [];
    const windowOf = (version: string, distDirectory = programs.directory): GatewayUpdate =>
      new GatewayUpdate({
        paths: rig.paths,
        log: silentLog,
        source: { distDirectory, version, nodes: [process.execPath] },
        tell: (sentence) => told.push(`${version}: ${sentence}`),
      });
    const older = windowOf('1.0.0');
    const newer = windowOf('1.1.0');
    const first = await older.ensure();
    await newer.ensure();
    const name = await copy('1.1.0');
    const second = await untilRuns(name);
    for (const window of [older, newer, older, windowOf('1.0.0'), newer]) await window.ensure();
    await waitFor('the version in use', () => current() === name, limit);
    const settled = (await endpoint()).gateway.instance;

    // Of two builds of one version the window that was opened last wins, and the first one does not answer back.
    const rebuilt = join(scratch, 'rebuilt');
    cpSync(programs.directory, rebuilt, { recursive: true });
    await writeFile(join(rebuilt, 'hook.js'), '\n', { flag: 'a' });
    await windowOf('1.1.0', rebuilt).ensure();
    const third = await untilRuns(await copy('1.1.0', rebuilt));
    for (const window of [newer, older]) await window.ensure();
    await waitFor('the version in use', () => current() === third.version, limit);

    // All is dead, and a window of the old version is the first to come.
    for (const pid of rig.processes()) kill(pid, 'SIGKILL');
    await waitFor('the end of all', () => rig.processes().length === 0, limit);
    const fourth = await windowOf('1.0.0').ensure();
    assert.deepStrictEqual(
      {
        first: /^1\.0\.0-/.test(first.version),
        settled,
        third: (await endpoint()).version,
        fourth: fourth.version,
        told: told.map((sentence) => sentence.split(', and')[0]),
      },
      {
        first: true,
        settled: second.gateway.instance,
        third: third.version,
        fourth: third.version,
        told: Array(4).fill("1.0.0: Bowline 1.1.0 runs your agents' gateway"),
      },
    );
  });

  /** One request on a connection of the agent; nothing is tried again. */
  function post(
    connection: Agent,
    headers: Readonly<Record<string, string>>,
    body: object,
  ): Promise<{ readonly status: number; readonly answer: string; readonly headers: NodeJS.Dict<string | string[]> }> {
    return new Promise((resolve, reject) => {
      void endpoint().then(({ port }) => {
        const outgoing = request({ ...wireOptions(port, headers), agent: connection }, (response) => {
          void text(response).then((answer) => {
            resolve({ status: response.statusCode ?? 0, answer, headers: response.headers });
          }, reject);
        });
        outgoing.on('error', reject);
        outgoing.end(JSON.stringify(body));
      }, reject);
    });
  }
});

/** A call whose body comes in two parts: it is under way until `finish`, which resolves with the status. */
function slowPost(
  port: number,
  headers: Readonly<Record<string, string>>,
  body: object,
): { finish(): Promise<number> } {
  const content = JSON.stringify(body);
  const outgoing = request({ ...wireOptions(port, headers), agent: false });
  const answered = new Promise<number>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
  outgoing.write(content.slice(0, 10));
  return {
    finish: () => {
      outgoing.end(content.slice(10));
      return answered;
    },
  };
}

function wireOptions(port: number, headers: Readonly<Record<string, string>>): object {
  return {
    ...{ host: '127.0.0.1', port, method: 'POST', path: '/mcp/bowline-self' },
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
  };
}
