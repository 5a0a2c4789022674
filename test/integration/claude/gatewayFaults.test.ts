import { deepStrictEqual, match, ok } from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { delay } from '../../../src/base/async.ts';
import { readEndpointFile } from '../../../src/node/endpointFile.ts';
import { isSameProcess } from '../../../src/node/processIdentity.ts';
import { type Endpoint, holderFileSchema } from '../../../src/protocol/endpointFile.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const patience = { timeoutMs: 60_000 };
const names = ['ada', 'bo'] as const;

/** What happens to a real claude, and to a call that is under way, when something of Bowline or tmux ends or hangs. */
describe('faults around claude 2.1.332', function () {
  this.timeout(240_000);
  let rig: FleetRig;

  before(async () => {
    rig = await FleetRig.open({ version: '2.1.332', trusted: names });
    for (const name of names) await rig.create(name, name);
    for (const name of names) await rig.untilBound(name);
    for (const name of names) await rig.turn(name, 'hello');
  });

  after(async () => {
    await rig.dispose();
  });

  async function endpoint(): Promise<Endpoint> {
    const reading = await readEndpointFile(rig.paths);
    if (reading.kind !== 'ok') throw new Error(`endpoint file ${reading.kind}`);
    return reading.endpoint;
  }

  async function killGateway(): Promise<void> {
    const { gateway } = await endpoint();
    process.kill(gateway.pid, 'SIGKILL');
    await waitFor('the next gateway', async () => (await endpoint()).gateway.instance !== gateway.instance, patience);
  }

  /** What must be the same before and after a fault that no agent notices. */
  function lives(): unknown {
    return names.map((name) => {
      const { life, launchCount, session } = rig.agent(name);
      return [name, life.kind === 'running' && life.running.process.pid, launchCount, session?.id];
    });
  }

  function conversations(): unknown {
    return names.map((name) => rig.agent(name).session?.id);
  }

  function notice(words: RegExp): string | undefined {
    return rig.state.notices.map(({ sentence }) => sentence).find((sentence) => words.test(sentence));
  }

  async function untilHealed(name: string, launchCount: number): Promise<void> {
    await rig.untilBound(name, launchCount);
    await rig.until(name, 'without an incident', (_row, agent) => Object.keys(agent.incidents).length === 0);
  }

  async function callWorks(name: string): Promise<void> {
    const before = rig.model.requests.length;
    await rig.turn(name, 'CALL mcp__bowline-self__whoami');
    const results = rig.model.requests.slice(before).flatMap(({ toolResults }) => toolResults);
    ok(
      results.some((result) => result.includes(name)),
      `whoami of ${name}: ${results.join(' | ')}`,
    );
  }

  it('keep one claude per agent, with its conversation, at whatever moment of a launch the gateway is killed', async () => {
    const before = conversations();
    const seen = watchProcesses('ada', rig.root);
    const moments = [0, 150, 1_000];
    for (const [index, moment] of moments.entries()) {
      await rig.request({ kind: 'restart', name: 'ada', mode: 'resume', guard: 'bypass' });
      await delay(moment);
      await killGateway();
      await untilHealed('ada', index + 2);
    }
    deepStrictEqual({ most: seen.stop(), conversations: conversations() }, { most: 1, conversations: before });
    await callWorks('ada');
  });

  it('end a heal well at whatever moment of it the gateway is killed', async () => {
    const before = lives();
    for (const moment of [0, 100, 500]) {
      await rig.request({ kind: 'reconnect', name: 'bo', server: 'bowline-self' });
      await delay(moment);
      await killGateway();
      await untilHealed('bo', 1);
    }
    deepStrictEqual(lives(), before);
    await callWorks('bo');
  });

  it('end a call that a hung gateway had, with an error that says so, and nothing else', async () => {
    const before = lives();
    const { gateway } = await endpoint();
    const requests = rig.model.requests.length;
    const turns = rig.agent('ada').session?.turnsCompleted ?? 0;
    process.kill(gateway.pid, 'SIGSTOP');
    await rig.prompt('ada', 'CALL mcp__bowline-self__whoami');
    const results = await waitFor(
      'the result of the call',
      () => {
        const all = rig.model.requests.slice(requests).flatMap(({ toolResults }) => toolResults);
        return all.length > 0 && all;
      },
      patience,
    );
    match(results.join(), /ECONNRESET/);
    deepStrictEqual(await isSameProcess(gateway), 'gone');
    await rig.until('ada', 'idle', (_row, agent) => {
      return agent.session?.turnsCompleted === turns + 1 && agent.activity.kind === 'idle';
    });
    for (const name of names) await untilHealed(name, rig.agent(name).launchCount);
    await callWorks('ada');
    deepStrictEqual(lives(), before);
  });

  it('go on when the holder is killed', async () => {
    const before = lives();
    const holder = holderFileSchema.parse(JSON.parse(readFileSync(rig.paths.holder, 'utf8')));
    const { gateway } = await endpoint();
    process.kill(holder.pid, 'SIGKILL');
    await waitFor('the next gateway', async () => (await endpoint()).gateway.instance !== gateway.instance, patience);
    for (const name of names) await untilHealed(name, rig.agent(name).launchCount);
    deepStrictEqual([lives(), (await endpoint()).port], [before, holder.port]);
    await callWorks('ada');
  });

  it('keep every agent and its conversation when the tmux server is killed, and say so once', async () => {
    const before = conversations();
    const pid = await rig.tmux('display-message', '-p', '-t', '=ada:', '#{pid}');
    process.kill(Number(pid), 'SIGKILL');
    for (const name of names) await rig.until(name, 'stopped', (row) => row.life === 'stopped');
    deepStrictEqual(
      {
        details: names.map((name) => rig.row(name).detail),
        reasons: names.map((name) => rig.agent(name).launches.at(-1)?.reason),
        conversations: conversations(),
      },
      {
        details: names.map(() => 'The tmux server ended, and this agent with it. Use Resume: it goes on where it was.'),
        reasons: ['host gone', 'host gone'],
        conversations: before,
      },
    );
    deepStrictEqual(
      rig.state.notices.filter(({ code }) => code === 'host-gone').map(({ sentence }) => sentence),
      [
        'The tmux server ended, and all agents with it. Nothing is lost: Restore All brings them back with their conversations.',
      ],
    );
    for (const name of names) await rig.request({ kind: 'start', name });
    for (const name of names) await rig.untilBound(name, rig.agent(name).launchCount);
    deepStrictEqual(conversations(), before);
  });

  it('are resumed on another port when a stranger has taken the one that they know', async () => {
    // One is enough: that restarts by healing keep their distance is a matter of the ladder.
    await rig.request({ kind: 'stop', name: 'bo' });
    await rig.until('bo', 'stopped', (row) => row.life === 'stopped');
    const before = conversations();
    const { port } = await endpoint();
    const launches = rig.agent('ada').launchCount;
    const since = Date.now();
    const closed = await rig.closePort();
    const stranger = await listenOn(port);
    try {
      await closed.open();
      const taken = await waitFor('another port', async () => (await endpoint()).port !== port && endpoint(), patience);
      await waitFor('the notice', () => notice(/another program/), patience);
      deepStrictEqual(
        notice(/another program/),
        `Port ${port} is held by another program; the gateway took ${taken.port}. ` +
          'Agents that still ask at the old port are restarted with resume.',
      );
      await untilHealed('ada', launches + 1);
      deepStrictEqual(conversations(), before);
      const healed = rig.state.timeline.filter(({ at }) => at >= since).map(({ text }) => text);
      deepStrictEqual(
        ['reconnect started', 'resume started'].map((text) => healed.filter((one) => one === text).length),
        [0, 1],
      );
      await callWorks('ada');
    } finally {
      stranger.close();
    }
  });
});

/** A program that takes connections and never says a word. */
function listenOn(port: number): Promise<Server> {
  return waitFor(`port ${port}`, () => {
    return new Promise<Server | undefined>((resolve) => {
      const server = createServer((socket) => socket.on('error', () => undefined));
      server.once('error', () => {
        resolve(undefined);
      });
      server.listen(port, '127.0.0.1', () => {
        resolve(server);
      });
    });
  });
}

/** Looks, until it is stopped, how many claudes of this agent there are at once; `stop` tells the most. */
function watchProcesses(agent: string, root: string): { stop(): number } {
  let most = 0;
  const look = (): void => {
    most = Math.max(most, claudesOf(agent, root).length);
  };
  look();
  const timer = setInterval(look, 25);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return most;
    },
  };
}

/**
 * Processes of `claude` itself in panes: what it starts (hooks, tools) runs other programs, but is a copy of it for the
 * moment until it does.
 */
function claudesOf(agent: string, root: string): number[] {
  const found = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => claudeOf(Number(entry), agent, root) ?? []);
  const pids = new Set(found.map(({ pid }) => pid));
  return found.filter(({ parent }) => !pids.has(parent)).map(({ pid }) => pid);
}

function claudeOf(
  pid: number,
  agent: string,
  root: string,
): { readonly pid: number; readonly parent: number } | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    if (!variables.includes(`BOWLINE_AGENT=${agent}`) || !variables.some((one) => one.includes(root))) return undefined;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isOwn = Number(session) === pid && readlinkSync(`/proc/${pid}/exe`).endsWith('/claude.exe');
    return state !== 'Z' && isOwn ? { pid, parent: Number(parent) } : undefined;
  } catch {
    return undefined;
  }
}
