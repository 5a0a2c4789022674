import { deepStrictEqual, match, ok, rejects } from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import type { IncidentEnd } from '../../src/core/healing/incident.ts';
import { readEndpointFile } from '../../src/node/endpointFile.ts';
import { claudeVersions } from '../harness/claude.ts';
import { findProcesses } from '../harness/processes.mjs';
import { waitFor } from '../harness/waitFor.ts';
import type { WrappedClaude } from '../harness/wrappedClaude.ts';
import { FleetWindow } from './fleetWindow.ts';
import { rows } from './rows.ts';
import { restart, stop, untilBound, untilWorked } from './steps.ts';
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
        // Eva's configuration sends no name, fay's start takes long.
        await claude.behave('eva', 'fresh', { mcp: { sed: 's/"X-Agent-Name": *"[^"]*"/"X-Agent-Name":"${NOBODY}"/' } });
        await claude.behave('fay', 'fresh', { delaySeconds: 20 });
        // The first one as a person does, which starts the gateway; the others by a script.
        await window.createAgent('ada');
        for (const body of window.fleet.agents.slice(1)) await window.fleet.request('POST', '/agents', { body });
        await stopWhileStarting(window, claude);
        report.say(rows.stop);

        for (const name of ['gil', 'ada', 'cy']) await untilBound(window, name, 1);
        await loseTools(window, claude);
        for (const name of ['ada', 'cy']) await window.prompt(name, 'hello');
        for (const name of ['ada', 'cy']) await untilWorked(window, name);
        await restart(window, 'ada');
        await untilBound(window, 'ada', 2);
        deepStrictEqual([await rungs(window, 'ada'), await restartsByHealing(window, 'ada')], [[], []]);
        report.say(rows.bound);

        await comesBackByReconnect(window, claude);
        report.say(rows.reconnect);

        await unresumable(window);
        report.say(rows.unresumable);

        await poisoned(window);
        report.say(rows.poisoned);

        const { incidents, launchCount } = await window.agent('eva');
        deepStrictEqual(
          [Object.values(incidents).map(({ end }) => `${end?.kind ?? ''} ${end?.reason ?? ''}`), launchCount],
          [['asked configuration'], 1],
        );
        report.say(rows.configuration);

        const end = await waitFor('gil to be given up', () => endOfHealing(window, 'gil'), {
          timeoutMs: 180_000,
          everyMs: 200,
        });
        deepStrictEqual([end.kind, end.reason], ['dead', 'healing failed']);
        deepStrictEqual(await rungs(window, 'gil'), ['reconnect', 'reconnect', 'resume', 'fresh']);
        match(end.detail, /Restart did not help: tried reconnect \(2 times\), resume, fresh\./);
        await window.waitForHealthText(/did not help/, { timeoutMs: 10_000 });
        await window.picture('dead');
        report.say(rows.dead);
      },
      { names },
    );
  },
};

/** Gil has saved, so that healing may start him fresh; no further launch gets his tools. */
async function loseTools(window: FleetWindow, claude: WrappedClaude): Promise<void> {
  await window.callTool('gil', 'save_my_context {"context":"all is said"}', { timeoutMs: 30_000 });
  await untilWorked(window, 'gil');
  for (const mode of ['resume', 'fresh'] as const) await claude.behave('gil', mode, { mcp: 'strip' });
  await restart(window, 'gil');
}

/** Kinds of the steps that healing took for an agent, while it is without tools or where it never was. */
async function rungs(window: FleetWindow, name: string): Promise<readonly string[]> {
  const { incidents } = await window.agent(name);
  return Object.values(incidents).flatMap(({ attempts }) => attempts.map(({ rung }) => rung));
}

async function restartsByHealing(window: FleetWindow, name: string): Promise<readonly string[]> {
  const { launches } = await window.agent(name);
  return launches.filter(({ launch }) => launch.cause === 'healing').map(({ launch }) => launch.mode);
}

async function endOfHealing(window: FleetWindow, name: string): Promise<IncidentEnd | undefined> {
  return Object.values((await window.agent(name)).incidents)[0]?.end;
}

async function stopWhileStarting(window: FleetWindow, claude: WrappedClaude): Promise<void> {
  const started = async (): Promise<boolean> => (await claude.starts()).some(({ agent }) => agent === 'fay');
  await waitFor("fay's start", started, patience);
  ok(processesOf(window, 'fay').length > 0);
  await stop(window, 'fay');
  deepStrictEqual(processesOf(window, 'fay'), []);
  const sessions = await window.tmux('list-sessions', '-F', '#{session_name}');
  deepStrictEqual(sessions.split('\n').includes('fay'), false);
}

/** Command lines of all that was started for an agent of this fleet. */
function processesOf(window: FleetWindow, name: string): readonly string[] {
  const ofThisFleet = new Set(findProcesses(path.dirname(window.paths.directory)).map(({ pid }) => pid));
  return findProcesses(`BOWLINE_AGENT=${name}`).flatMap(({ pid, command }) => (ofThisFleet.has(pid) ? command : []));
}

/** At the address in its configuration everybody is hung up on until its client has given up; then it leads to the gateway. */
async function comesBackByReconnect(window: FleetWindow, claude: WrappedClaude): Promise<void> {
  const reading = await readEndpointFile(window.paths);
  if (reading.kind !== 'ok') throw new Error(`endpoint file ${reading.kind}`);
  const { port } = reading.endpoint;
  const relay = await Relay.start(port);
  try {
    await claude.behave('cy', 'resume', { mcp: { sed: `s/:${port}\\//:${relay.port}\\//g` } });
    const conversation = (await window.agent('cy')).session?.id;
    await restart(window, 'cy');
    await waitFor(
      'the blackout of cy',
      async () => Object.keys((await window.agent('cy')).incidents).length > 0,
      patience,
    );
    relay.open();
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
  await stop(window, 'ada');
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
  deepStrictEqual(await window.editor.offers('ada needs you: resume failed', patience), [
    'Start Fresh',
    'Other Conversation',
    'Open Transcript',
  ]);
  await window.picture('unresumable');
}

/** One error may pass; after the second one of a kind in a row nothing resumes the conversation, and it is kept. */
async function poisoned(window: FleetWindow): Promise<void> {
  const { launchCount, session } = await window.agent('cy');
  for (const inARow of [1, 2]) {
    await window.waitForInput('cy');
    await window.prompt('cy', 'FAIL400 `thinking` blocks cannot be modified');
    await waitFor(
      `${inARow} errors of cy`,
      async () => {
        const { session, activity } = await window.agent('cy');
        return session?.apiErrors?.inARow === inARow && activity.kind === 'idle';
      },
      patience,
    );
    deepStrictEqual((await window.agent('cy')).session?.quarantine !== undefined, inARow === 2);
  }
  deepStrictEqual(await window.editor.offers('cy needs you: conversation poisoned', patience), [
    'Attach',
    'Start Fresh',
    'Fork',
    'Keep Trying',
  ]);
  await rejects(restart(window, 'cy'), /fails with the same error \(thinking blocks\)/);
  const after = await window.agent('cy');
  deepStrictEqual([after.launchCount, after.session?.id], [launchCount, session?.id]);
  ok((await readFile(after.session?.transcriptPath ?? '', 'utf8')).includes('hello'));
  await window.picture('poisoned');
}

/** A port of its own that hangs up until it is opened, and then leads to another one. */
class Relay {
  private readonly sockets = new Set<Socket>();
  private isOpen = false;

  private constructor(
    private readonly server: Server,
    readonly port: number,
    private readonly target: number,
  ) {
    server.on('connection', (client) => {
      client.on('error', () => undefined);
      if (this.isOpen) this.lead(client);
      else client.destroy();
    });
  }

  static async start(target: number): Promise<Relay> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new Relay(server, address.port, target);
  }

  open(): void {
    this.isOpen = true;
  }

  async close(): Promise<void> {
    this.isOpen = false;
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private lead(client: Socket): void {
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
  }
}
