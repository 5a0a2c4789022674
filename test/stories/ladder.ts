import { deepStrictEqual, match, ok } from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { readEndpointFile } from '../../src/node/endpointFile.ts';
import { claudeVersions } from '../harness/claude.ts';
import { waitFor } from '../harness/waitFor.ts';
import type { WrappedClaude } from '../harness/wrappedClaude.ts';
import { FleetWindow } from './fleetWindow.ts';
import type { Story } from './story.ts';

/** Each agent has another fate; all of them at once, in one window. */
const names = ['ada', 'cy', 'eva', 'fay', 'gil'] as const;
const patience = { timeoutMs: 60_000, everyMs: 200 };

/** Launches that do not come up as they should: each is mended by the mildest step, or a person is told what to do. */
export const ladder: Story = {
  name: 'launches that fail are healed step by step, or a person is told',
  versions: claudeVersions,
  run: async (version, report) => {
    await FleetWindow.playWrapped(
      version,
      report,
      async (window, claude) => {
        // Gil never gets his tools, eva's configuration sends no name, fay's start takes long.
        await claude.behave('gil', 'fresh', { mcp: 'strip' });
        await claude.behave('eva', 'fresh', { mcp: { sed: 's/"X-Agent-Name": *"[^"]*"/"X-Agent-Name":"${NOBODY}"/' } });
        await claude.behave('fay', 'fresh', { delaySeconds: 20 });
        // The first one as a person does, which starts the gateway; the others by a script.
        await window.createAgent('ada');
        for (const body of window.fleet.agents.slice(1)) await window.fleet.request('POST', '/agents', { body });
        await stopWhileStarting(window, claude);
        report.say('stop during a launch: no process is left');

        await untilBound(window, 'ada', 1);
        await untilBound(window, 'cy', 1);
        for (const name of ['ada', 'cy']) await window.prompt(name, 'hello');
        for (const name of ['ada', 'cy']) await untilPrompted(window, name);
        await restart(window, 'ada');
        await untilBound(window, 'ada', 2);
        deepStrictEqual(await rungs(window, 'ada'), []);
        report.say('a resume that is bound: no step of the ladder');

        await comesBackByReconnect(window, claude);
        report.say('a resume that is alive and deaf: reconnected');

        await unresumable(window);
        report.say('a conversation that is gone: blocked, with choices');
        await window.picture('choices');

        const { incidents, launchCount } = await window.agent('eva');
        deepStrictEqual(
          [Object.values(incidents).map(({ end }) => `${end?.kind ?? ''} ${end?.reason ?? ''}`), launchCount],
          [['asked configuration'], 1],
        );
        report.say('a cause in the configuration: a person is asked, nothing restarted');

        const end = await waitFor(
          'gil to be given up',
          async () => Object.values((await window.agent('gil')).incidents)[0]?.end,
          { timeoutMs: 90_000, everyMs: 200 },
        );
        deepStrictEqual([end.kind, end.reason], ['dead', 'healing failed']);
        match(end.detail, /did not help/);
        await window.waitForHealthText(/did not help/, { timeoutMs: 10_000 });
        await window.picture('dead');
        report.say('still unbound after a fresh start: dead, with its reason');
      },
      { names },
    );
  },
};

async function restart(window: FleetWindow, name: string): Promise<void> {
  await window.fleet.request('POST', `/agents/${name}/restart`, { body: { mode: 'resume' } });
}

async function untilBound(window: FleetWindow, name: string, launchCount: number): Promise<void> {
  await waitFor(
    `${name} bound in launch ${launchCount}`,
    async () =>
      (await window.bindings())[name] === 'ready, bound' && (await window.agent(name)).launchCount === launchCount,
    patience,
  );
}

async function untilPrompted(window: FleetWindow, name: string): Promise<void> {
  const isIdleAgain = async (): Promise<boolean> => {
    const { session, activity } = await window.agent(name);
    return session?.prompted === true && session.turnsCompleted > 0 && activity.kind === 'idle';
  };
  await waitFor(`the end of ${name}'s turn`, isIdleAgain, patience);
}

/** Kinds of the steps that healing took for an agent. */
async function rungs(window: FleetWindow, name: string): Promise<readonly string[]> {
  const { incidents, launches } = await window.agent(name);
  return [
    ...Object.values(incidents).flatMap(({ attempts }) => attempts.map(({ rung }) => rung)),
    ...launches.filter(({ launch }) => launch.cause === 'healing').map(({ launch }) => launch.mode),
  ];
}

async function stopWhileStarting(window: FleetWindow, claude: WrappedClaude): Promise<void> {
  const started = async (): Promise<boolean> => (await claude.starts()).some(({ agent }) => agent === 'fay');
  await waitFor("fay's start", started, patience);
  await window.fleet.request('POST', '/agents/fay/stop');
  await waitFor('fay stopped', async () => (await window.agent('fay')).life.kind === 'stopped', patience);
  const sessions = await window.tmux('list-sessions', '-F', '#{session_name}');
  deepStrictEqual(sessions.split('\n').includes('fay'), false);
}

/** The address in its configuration is closed until its client has given up, then it leads to the gateway. */
async function comesBackByReconnect(window: FleetWindow, claude: WrappedClaude): Promise<void> {
  const reading = await readEndpointFile(window.paths);
  if (reading.kind !== 'ok') throw new Error(`endpoint file ${reading.kind}`);
  const { port } = reading.endpoint;
  const relay = await Relay.reserve(port);
  try {
    await claude.behave('cy', 'resume', { mcp: { sed: `s/:${port}\\//:${relay.port}\\//g` } });
    const conversation = (await window.agent('cy')).session?.id;
    await restart(window, 'cy');
    await waitFor(
      'the blackout of cy',
      async () => Object.keys((await window.agent('cy')).incidents).length > 0,
      patience,
    );
    await relay.open();
    await untilBound(window, 'cy', 2);
    const { launches, session } = await window.agent('cy');
    deepStrictEqual(
      [launches.map(({ launch, reason }) => `${launch.mode} ${reason}`), session?.id],
      [['fresh replaced'], conversation],
    );
    match(await window.screen('cy'), /reconnect/i);
  } finally {
    await relay.close();
  }
}

async function unresumable(window: FleetWindow): Promise<void> {
  const { session } = await window.agent('ada');
  ok(session?.transcriptPath !== undefined);
  await window.fleet.request('POST', '/agents/ada/stop');
  await waitFor('ada stopped', async () => (await window.agent('ada')).life.kind === 'stopped', patience);
  await rm(session.transcriptPath);
  await window.fleet.request('POST', '/agents/ada/start');
  const life = await waitFor(
    'ada blocked',
    async () => {
      const agent = await window.agent('ada');
      return agent.life.kind === 'blocked' ? agent.life : undefined;
    },
    patience,
  );
  deepStrictEqual([life.reason, path.basename(session.transcriptPath, '.jsonl')], ['resume failed', session.id]);
}

/** A port of its own that is closed until it is opened, and then leads to another one. */
class Relay {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;

  private constructor(
    readonly port: number,
    private readonly target: number,
  ) {}

  static async reserve(target: number): Promise<Relay> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new Relay(address.port, target);
  }

  async open(): Promise<void> {
    const server = createServer((client) => {
      const onward = connect(this.target, '127.0.0.1');
      for (const [one, other] of [
        [client, onward],
        [onward, client],
      ] as const) {
        this.sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
      onward.pipe(client);
      // The gateway takes requests only under its own address.
      const [own, address] = [this.port, this.target].map((port) => `127.0.0.1:${port}`);
      client.on('data', (bytes) => {
        onward.write(Buffer.from(bytes.toString('latin1').replaceAll(own ?? '', address ?? ''), 'latin1'));
      });
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    const { server } = this;
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  }
}
