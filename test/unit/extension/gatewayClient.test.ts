import { deepStrictEqual, match, rejects } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BowlineError } from '../../../src/base/errors.ts';
import { silentLog } from '../../../src/base/log.ts';
import { GatewayClient } from '../../../src/extension/gatewayClient.ts';
import { statePaths } from '../../../src/node/statePaths.ts';
import { FleetStory } from '../../harness/fleetStory.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { FakeGateway } from './fakeGateway.ts';

const timings = { request: 400, answer: 300, silence: 800, firstBackoff: 10, longestBackoff: 50 };

describe('the client of the gateway', () => {
  let gateway: FakeGateway;
  let client: GatewayClient;
  let directory: string;
  let ensured: number;
  let startProblem: BowlineError | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bowline-client-'));
    gateway = new FakeGateway();
    ensured = 0;
    startProblem = undefined;
    await gateway.listen();
    client = new GatewayClient({
      paths: statePaths(directory),
      log: silentLog,
      window: 'window-1',
      hands: () => 'offered',
      ensure: () => {
        ensured += 1;
        return startProblem === undefined ? Promise.resolve(gateway.endpoint) : Promise.reject(startProblem);
      },
      timings,
    });
  });

  afterEach(async () => {
    client.dispose();
    await gateway.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function connect(): Promise<void> {
    await client.whenConnected(2_000);
  }

  function away(): { reason: string; refused: boolean } {
    const { connection } = client;
    if (connection.kind === 'connected') throw new Error('connected');
    return { reason: connection.reason, refused: connection.refusedSince !== undefined };
  }

  it('starts nothing before it is needed', () => {
    deepStrictEqual([ensured, client.isStarted, client.connection.kind], [0, false, 'away']);
  });

  it('says hello with its token and mirrors the snapshot and the events', async () => {
    const story = FleetStory.bound();
    gateway.state = story.state;
    gateway.sequence = 7;
    await connect();
    const { now } = story;
    story.tell({ kind: 'hands changed', holder: 'window-1' });
    gateway.send({ kind: 'events', sequence: 8, events: [{ at: now, kind: 'hands changed', holder: 'window-1' }] });
    await waitFor('the event', () => client.state.hands?.holder === 'window-1');
    deepStrictEqual(
      [client.state, gateway.received, gateway.tokens],
      [
        story.state,
        [{ kind: 'hello', protocol: 1, window: 'window-1', hands: 'offered' }],
        [`Bearer ${'t'.repeat(43)}`],
      ],
    );
  });

  it('asks for a snapshot when a number was missed or a message is not understood', async () => {
    await connect();
    gateway.state = new FleetStory().state;
    gateway.sequence = 9;
    gateway.send({ kind: 'events', sequence: 5, events: [{ at: 1, kind: 'host resumed' }] });
    await waitFor('the first snapshot', () => client.state.epoch !== undefined);
    gateway.state = { ...gateway.state, hands: { holder: 'window-2', since: 1 } };
    gateway.send({ kind: 'events', sequence: 10, events: [{ at: 1, kind: 'host resumed', name: 7 } as never] });
    gateway.send({ kind: 'events', sequence: 10, events: [{ at: 1, kind: 'of a later version' } as never] });
    await waitFor('the second snapshot', () => client.state.hands?.holder === 'window-2');
    deepStrictEqual([gateway.kinds(), client.connection], [['hello', 'resync', 'resync'], { kind: 'connected' }]);
  });

  it('keeps what it understood of the fleet when the gateway is of a version whose state it cannot read, and says so', async () => {
    gateway.state = new FleetStory().state;
    await connect();
    const readable = gateway.state;
    gateway.state = { ...readable, hands: { holder: 7 } as never };
    gateway.send({ kind: 'events', sequence: 1, events: [{ at: 1, kind: 'of a later version' } as never] });
    await waitFor('the third try', () => gateway.kinds().filter((kind) => kind === 'hello').length >= 3);
    await waitFor(
      'the reason',
      () => client.connection.kind === 'away' && client.connection.reason.includes('version'),
    );
    const { connection, state } = client;
    const asked = gateway.kinds().filter((kind) => kind === 'resync').length;
    gateway.state = readable;
    await waitFor('the connection', () => client.connection.kind === 'connected');
    deepStrictEqual(
      { reason: connection.kind === 'away' && connection.reason, epoch: state.epoch?.id, asked },
      {
        reason: 'it is of another version (0.1.0): reload this window, or update Bowline in it',
        epoch: readable.epoch?.id,
        asked: 1,
      },
    );
  });

  it('gives back answers, and errors with their code and sentence', async () => {
    const done = client.request({ kind: 'stop', name: 'ada' });
    const refused = client.request({ kind: 'verify', name: 'ada' });
    const unknown = client.request({ kind: 'start', name: 'ada' });
    const rejection = [
      rejects(refused, (error) => error instanceof BowlineError && error.code === 'not-running'),
      rejects(unknown, (error) => error instanceof BowlineError && error.code === 'internal'),
    ];
    await waitFor('the requests', () => gateway.received.length === 4);
    gateway.send({ kind: 'reply', id: 2, error: { code: 'not-running', sentence: 'It does not run.' } });
    gateway.send({ kind: 'reply', id: 3, error: { code: 'of a later version', sentence: 'No.' } });
    gateway.send({ kind: 'reply', id: 1 });
    await done;
    await Promise.all(rejection);
  });

  it('gives a request up after its time, and at once when the connection is lost', async () => {
    await connect();
    await rejects(client.request({ kind: 'stop', name: 'ada' }), { code: 'gateway-away' });
    const lost = client.request({ kind: 'stop', name: 'ada' });
    await waitFor('the request', () => gateway.received.length === 3);
    const started = performance.now();
    const rejection = rejects(lost, { code: 'gateway-away' });
    await gateway.close();
    await rejection;
    deepStrictEqual(performance.now() - started < timings.request, true);
  });

  it('keeps the last state while the port is closed, knows since when, and is back when it opens', async () => {
    gateway.state = FleetStory.bound().state;
    await connect();
    const before = Date.now();
    await gateway.close();
    await waitFor('the refusal', () => client.connection.kind === 'away' && away().refused);
    const { connection } = client;
    match(away().reason, /nothing listens on port \d+|the connection was closed/);
    deepStrictEqual(
      [Object.keys(client.state.agents), connection.kind === 'away' && connection.since >= before],
      [['ada'], true],
    );
    await gateway.listen();
    await waitFor('the connection', () => client.connection.kind === 'connected', { timeoutMs: 2_000 });
  });

  it('counts a gateway behind an open port as away, not as refused', async () => {
    gateway.manner = 'never answers the upgrade';
    client.start();
    await waitFor('the reason', () => away().reason.startsWith('the port is open, but no answer came'));
    deepStrictEqual(away().refused, false);
    gateway.manner = 'serves';
    await waitFor('the connection', () => client.connection.kind === 'connected', { timeoutMs: 2_000 });
  });

  it('gives up a connection without a state', async () => {
    gateway.manner = 'never sends a state';
    client.start();
    await waitFor('the reason', () => away().reason === 'it accepted the connection, but sent no state');
  });

  it('finds a hung gateway by its silence; pings are no silence', async () => {
    await connect();
    let pings = 0;
    const pinging = setInterval(() => {
      gateway.ping();
      pings += 1;
    }, 50);
    const listener = client.onDidChange(() => {
      if (client.connection.kind === 'away') pings = -1;
    });
    await waitFor('pings for longer than the limit', () => pings > 20 || pings < 0);
    const outlived = pings > 0;
    clearInterval(pinging);
    await waitFor('the end', () => client.connection.kind === 'away' || gateway.kinds().length > 1);
    listener.dispose();
    deepStrictEqual([outlived, gateway.kinds().every((kind) => kind === 'hello')], [true, true]);
  });

  it('tells why the gateway cannot be started, and tries on', async () => {
    startProblem = new BowlineError('gateway-cannot-start', 'There is no Node.');
    await rejects(connect(), { code: 'gateway-cannot-start' });
    deepStrictEqual([client.startProblem?.message, away().reason], ['There is no Node.', 'There is no Node.']);
    startProblem = undefined;
    await connect();
    deepStrictEqual(client.startProblem, undefined);
  });

  it('stops waiting when the person cancels', async () => {
    gateway.manner = 'never answers the upgrade';
    const abort = new AbortController();
    const waiting = client.whenConnected(5_000, abort.signal);
    abort.abort();
    await rejects(waiting, { code: 'cancelled' });
    deepStrictEqual(client.isAwaited, false);
  });

  it('passes tasks on, and facts only while it is connected', async () => {
    client.report([{ at: 1, kind: 'screen read', name: 'ada', launchId: 'ada.1' }]);
    await connect();
    const tasks: string[] = [];
    client.onTasks((all) => tasks.push(...all.map(({ id }) => id)));
    gateway.send({ kind: 'tasks', tasks: [{ kind: 'end', id: 'end:1', name: 'ada', launchId: 'ada.1' }] });
    client.report([{ at: 2, kind: 'screen read', name: 'ada', launchId: 'ada.1' }]);
    await waitFor('the fact', () => gateway.received.length === 2);
    deepStrictEqual(
      [tasks, gateway.received[1]],
      [['end:1'], { kind: 'hands report', facts: [{ at: 2, kind: 'screen read', name: 'ada', launchId: 'ada.1' }] }],
    );
  });
});
