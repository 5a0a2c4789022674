import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { closeCodes } from '../../../src/gateway/windows.ts';
import { streamProtocol } from '../../../src/protocol/stream.ts';
import { GatewayParts } from '../../harness/gatewayParts.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('windows', () => {
  let parts: GatewayParts;
  let windows: WindowStandIn[];
  beforeEach(async () => {
    parts = await GatewayParts.start({ pingEveryMs: 100 });
    windows = [];
  });
  afterEach(async () => {
    for (const window of windows) window.drop();
    await parts.dispose();
  });

  async function member(name: string, hands: 'offered' | 'not offered' = 'offered'): Promise<WindowStandIn> {
    const window = await WindowStandIn.join(parts, name, hands);
    windows.push(window);
    return window;
  }
  async function connect(name: string): Promise<WindowStandIn> {
    const window = await WindowStandIn.connect(parts, name);
    windows.push(window);
    return window;
  }
  const project = (name: string): string => {
    const directory = join(parts.paths.directory, name);
    mkdirSync(directory);
    return directory;
  };
  const inStep = (window: WindowStandIn): Promise<unknown> =>
    waitFor(`${window.window} in step`, () => window.sequence === parts.fleet.sequence);

  it('greets with version and epoch, then a snapshot, and from there every event: the mirrors are equal', async () => {
    const one = await member('one');
    const two = await member('two', 'not offered');
    await one.ask({ kind: 'create', name: 'ada', directory: project('a') });
    await one.launch('ada');
    await inStep(one);
    await inStep(two);
    const [welcome] = two.messages;
    assert.deepStrictEqual(
      { welcome, one: one.state, two: two.state },
      {
        welcome: { kind: 'welcome', protocol: streamProtocol, epoch: 'epoch', version: 'test' },
        one: parts.fleet.state,
        two: parts.fleet.state,
      },
    );
  });

  it('shows three windows the same at the same number, whoever asks, comes late or missed something', async () => {
    const all = [await member('one'), await member('two')];
    const looks: unknown[] = [];
    const look = async (): Promise<void> => {
      await Promise.all(all.map(inStep));
      looks.push(...all.map(({ sequence, state }) => ({ sequence, state })));
      truth.push(...all.map(() => ({ sequence: parts.fleet.sequence, state: parts.fleet.state })));
    };
    const truth: unknown[] = [];
    await all[0]?.ask({ kind: 'create', name: 'ada', directory: project('a') });
    await look();
    all.push(await member('late', 'not offered'));
    await all[2]?.ask({ kind: 'create', name: 'bo', directory: project('b') });
    await look();
    await all[0]?.launch('ada');
    all[1]?.send({ kind: 'resync' });
    await Promise.all(all.map((window, index) => window.ask({ kind: 'verify', name: index === 0 ? 'ada' : 'bo' })));
    await look();
    assert.deepStrictEqual(looks, truth);
    assert.equal(looks.length, 8);
  });

  it('tells in one message what happens at once, before the answer that follows it, and to a newcomer only what comes after', async () => {
    const one = await member('one');
    await one.ask({ kind: 'create', name: 'ada', directory: project('a') });
    await inStep(one);
    const known = one.messages.length;
    for (const holder of ['x', 'y', 'z']) parts.fleet.report({ at: Date.now(), kind: 'hands changed', holder });
    const late = await connect('late');
    late.send({ kind: 'hello', protocol: streamProtocol, window: 'late', hands: 'not offered' });
    await one.ask({ kind: 'verify', name: 'ada' }).catch(() => undefined);
    await waitFor('the snapshot', () => late.messages.length >= 2);
    const of = (window: WindowStandIn, from: number): unknown[] =>
      window.messages
        .slice(from)
        .map((message) => [message.kind, message.kind === 'events' ? message.events.length : 1]);
    assert.deepStrictEqual(
      [of(one, known).slice(0, 1), of(late, 0).slice(0, 2)],
      [
        [['events', 3]],
        [
          ['welcome', 1],
          ['snapshot', 1],
        ],
      ],
    );
  });

  it('sends a snapshot again when a number was missed', async () => {
    const window = await member('one');
    window.state = { ...window.state, agents: {} };
    await window.ask({ kind: 'create', name: 'ada', directory: project('a') });
    window.send({ kind: 'resync' });
    await waitFor('a second snapshot', () => window.messages.filter(({ kind }) => kind === 'snapshot').length === 2);
    assert.deepStrictEqual(window.state, parts.fleet.state);
  });

  it('lends the hands to the first that offers them, and to the next when that one goes, with all open tasks', async () => {
    const watcher = await member('watcher', 'not offered');
    const first = await member('first');
    const second = await member('second');
    await second.ask({ kind: 'create', name: 'ada', directory: project('a') });
    const [task] = await waitFor('a task', () => first.tasks.length > 0 && first.tasks);
    const before = [parts.fleet.state.hands?.holder, watcher.tasks.length, second.tasks.length];
    first.drop();
    await waitFor('the takeover', () => second.tasks.length > 0);
    assert.deepStrictEqual(
      { before, after: parts.fleet.state.hands?.holder, tasks: second.tasks },
      { before: ['first', 0, 0], after: 'second', tasks: [task] },
    );
    second.drop();
    await waitFor('nobody', () => parts.fleet.state.hands === undefined);
  });

  it('keeps the hands with a window that connects again before its old connection is known to be dead', async () => {
    const old = await member('one');
    await member('two');
    const fresh = await member('one');
    await waitFor('the old one closed', () => old.closed);
    assert.deepStrictEqual(
      { code: old.closed?.code, holder: parts.fleet.state.hands?.holder, tasks: fresh.messages.at(-1)?.kind },
      { code: closeCodes.replaced, holder: 'one', tasks: 'tasks' },
    );
  });

  it('hands out a launch with its files: private, with name, launch and key; never the key in the task', async () => {
    const window = await member('one');
    await window.ask({ kind: 'create', name: 'ada', directory: project('a'), model: 'opus' });
    const [task] = await waitFor('a task', () => window.tasks.length > 0 && window.tasks);
    assert.ok(task?.kind === 'launch');
    const files = parts.paths.agent('ada');
    const key = await parts.keys.keyOf('ada');
    const mcp: unknown = JSON.parse(readFileSync(files.mcpConfig, 'utf8'));
    assert.deepStrictEqual(
      {
        task: { ...task, id: 'id', launchId: 'l' },
        mcp,
        modes: [files.mcpConfig, files.settings, files.key].map((path) => statSync(path).mode & 0o777),
        hook: readFileSync(files.settings, 'utf8').includes(
          `exec '${parts.paths.launcher}' 'hook' 'ada' '${task.launchId}'`,
        ),
        secret: JSON.stringify(window.messages).includes(key),
      },
      {
        task: {
          kind: 'launch',
          id: 'id',
          name: 'ada',
          launchId: 'l',
          directory: join(parts.paths.directory, 'a'),
          program: 'claude',
          arguments: [`--settings=${files.settings}`, `--mcp-config=${files.mcpConfig}`, '--model=opus'],
          environment: { BOWLINE_AGENT: 'ada', BOWLINE_LAUNCH: task.launchId },
        },
        mcp: {
          mcpServers: {
            'bowline-self': {
              type: 'http',
              url: `http://127.0.0.1:${parts.port}/mcp/bowline-self`,
              headers: { 'X-Agent-Name': 'ada', 'X-Agent-Launch': task.launchId, Authorization: `Bearer ${key}` },
            },
          },
        },
        modes: [0o600, 0o600, 0o600],
        hook: true,
        secret: false,
      },
    );
  });

  it('says so when a launch cannot be prepared, and hands nothing out', async () => {
    const window = await member('one');
    mkdirSync(parts.paths.agent('ada').mcpConfig, { recursive: true });
    await window.ask({ kind: 'create', name: 'ada', directory: project('a') });
    const life = await waitFor('the refusal', () => {
      const now = window.state.agents['ada']?.life;
      return now?.kind === 'blocked' && now;
    });
    assert.deepStrictEqual([life.reason, window.tasks], ['launch refused', []]);
    assert.match(life.detail, /cannot be prepared .* start the agent again/);
  });

  it('calls a launch off: the task goes when the agent is stopped, and what was reported late changes nothing', async () => {
    const window = await member('one');
    await window.ask({ kind: 'create', name: 'ada', directory: project('a') });
    const [launch] = await waitFor('a task', () => window.tasks.length > 0 && window.tasks);
    assert.ok(launch !== undefined);
    await window.ask({ kind: 'stop', name: 'ada' });
    await waitFor('the end', () => window.tasks[0]?.kind === 'end');
    const { launchId } = launch;
    const process = { tmuxSession: '$1', pane: '%1', pid: 1 };
    window.report({ at: Date.now(), kind: 'launched', name: 'ada', launchId, process });
    window.report({
      at: Date.now(),
      kind: 'process ended',
      name: 'ada',
      launchId,
      exit: { how: 'gone', reading: 'other', detail: 'gone' },
    });
    await waitFor('stopped', () => window.state.agents['ada']?.life.kind === 'stopped');
    await waitFor('no task', () => window.tasks.length === 0);
  });

  it('believes only the hands', async () => {
    const hands = await member('hands');
    const other = await member('other');
    await hands.ask({ kind: 'create', name: 'ada', directory: project('a') });
    const [task] = await waitFor('a task', () => hands.tasks.length > 0 && hands.tasks);
    const process = { tmuxSession: '$1', pane: '%1', pid: 1 };
    other.report({ at: 1, kind: 'launched', name: 'ada', launchId: task?.launchId ?? '', process });
    assert.equal((await other.ask({ kind: 'verify', name: 'ada' }))?.code, 'not-running');
    assert.deepStrictEqual(
      [parts.fleet.state.agents['ada']?.life.kind, parts.logged.some((line) => line.includes('not the hands'))],
      ['launching', true],
    );
  });

  const refusals: readonly [string, (window: WindowStandIn) => void, number, RegExp][] = [
    [
      'another protocol',
      (window) => {
        window.send({ kind: 'hello', protocol: 99, window: 'w', hands: 'offered' });
      },
      closeCodes.protocolMismatch,
      /speaks 99, the gateway 1: update the gateway/,
    ],
    [
      'no JSON',
      (window) => {
        window.sendText('{');
      },
      closeCodes.notUnderstood,
      /not JSON/,
    ],
    [
      'no text',
      (window) => {
        window.sendText(Buffer.from([1]));
      },
      closeCodes.notUnderstood,
      /not text/,
    ],
    [
      'an unknown kind',
      (window) => {
        window.sendText('{"kind":"dance"}');
      },
      closeCodes.notUnderstood,
      /kind/,
    ],
    [
      'a word before the hello',
      (window) => {
        window.send({ kind: 'resync' });
      },
      closeCodes.notUnderstood,
      /before the hello/,
    ],
    [
      '1 MB and more',
      (window) => {
        window.sendText('x'.repeat(1_100_000));
      },
      1009,
      /^$/,
    ],
  ];
  for (const [name, act, code, reason] of refusals) {
    it(`closes with a reason, and lives on: ${name}`, async () => {
      const window = await connect('w');
      act(window);
      const closed = await waitFor('the end', () => window.closed);
      assert.equal(closed.code, code);
      assert.match(closed.reason, reason);
      await member('next');
    });
  }

  it('answers a request that it does not understand, and goes on', async () => {
    const window = await member('one');
    window.sendText('{"kind":"request","id":77,"command":{"kind":"stop","name":"A B"}}');
    const reply = await waitFor('the reply', () => window.messages.find(({ kind }) => kind === 'reply'));
    assert.deepStrictEqual(
      [reply.kind === 'reply' && reply.id, reply.kind === 'reply' && reply.error?.code],
      [77, 'bad-request'],
    );
    assert.equal(
      await window.ask({ kind: 'configure', settings: { claudePath: '/c', environment: {}, healing: 'off' } }),
      undefined,
    );
  });

  it('refuses an upgrade from a web page, without a token, with a wrong one, and elsewhere', async () => {
    const answer = (path: string, headers: Record<string, string>): Promise<number> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${parts.port}${path}`, { headers });
        socket.on('unexpected-response', (_request, response) => {
          resolve(response.statusCode ?? 0);
          socket.terminate();
        });
        socket.on('open', () => {
          resolve(101);
          socket.terminate();
        });
        socket.on('error', () => undefined);
      });
    const authorization = `Bearer ${parts.token}`;
    assert.deepStrictEqual(
      await Promise.all([
        answer('/stream', { authorization, origin: 'http://evil.example' }),
        answer('/stream', { authorization, host: 'evil.example' }),
        answer('/stream', {}),
        answer('/stream', { authorization: 'Bearer x' }),
        answer('/other', { authorization }),
        answer('/stream', { authorization }),
      ]),
      [403, 403, 401, 401, 404, 101],
    );
  });

  it('drops a window that answers no ping', async () => {
    const window = await member('deaf');
    window.deafen();
    await waitFor('the loss of the hands', () => parts.fleet.state.hands === undefined);
    assert.ok(parts.logged.some((line) => line.startsWith('a window is silent')));
  });

  it('drops a window that takes nothing any more', async () => {
    await parts.dispose();
    parts = await GatewayParts.start({ backlogAtMost: 100_000 });
    const window = await member('slow');
    window.deafen();
    const sentence = 'x'.repeat(4_000);
    await waitFor('the loss of the hands', () => {
      for (let count = 0; count < 200; count++) {
        parts.fleet.report({ at: 1, kind: 'noticed', notice: { at: 1, code: 'x', sentence, severity: 'info' } });
      }
      return parts.fleet.state.hands === undefined;
    });
    assert.ok(parts.logged.some((line) => line.startsWith('a window takes nothing')));
  });
});
