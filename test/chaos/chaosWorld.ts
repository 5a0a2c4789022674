import { mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { stop } from 'esbuild';
import { copyPrograms } from '../../src/node/programs.ts';
import { currentVersion } from '../../src/node/programVersions.ts';
import type { Endpoint } from '../../src/protocol/endpointFile.ts';
import { gatewayProcesses } from '../harness/gatewayProcesses.ts';
import { call, type GatewayRig } from '../harness/gatewayRig.ts';
import { WindowStandIn } from '../harness/gatewayWindow.ts';
import { kill } from '../harness/holderRig.ts';
import { type LaunchedAgent, launchedAgents } from '../harness/launchedAgents.ts';
import { findProcesses } from '../harness/processes.mjs';
import { NetworkServer, processName, WorkServers } from '../harness/upstreams/workServers.ts';
import { waitFor } from '../harness/waitFor.ts';
import type { Call } from './calls.ts';
import { ChaosClient } from './chaosClient.ts';
import { randomOf, type Victim } from './schedule.ts';

/** As /proc/net/tcp has it: the other side has closed. */
const closeWait = '08';

const patience = { timeoutMs: 30_000 };

/** Servers that several agents reach by the network, each a process; what `way` of them says 'lost' with which status. */
const networkServers = [
  { name: 'web', way: 'http', lostStatus: 404 },
  { name: 'desk', way: 'http', lostStatus: 400 },
  { name: 'old', way: 'sse', lostStatus: 404 },
] as const;

/** Of ten agents, so many call each server; every agent has a process of its own of `tool`. */
const serversOfTen = ['tool', 'tool', 'web', 'web', 'web', 'desk', 'desk', 'desk', 'old', 'old'];

/** The built holder and gateway, real servers behind it, and agents that each call one of them by a real client. */
export class ChaosWorld {
  readonly calls: Call[] = [];
  readonly seen: string[] = [];
  readonly kills: { readonly at: number; readonly kind: Victim['kind'] }[] = [];
  readonly clients: readonly ChaosClient[];
  private readonly restarts = new Set<Promise<void>>();
  private upgrades = 0;

  private constructor(
    private readonly rig: GatewayRig,
    private readonly endpoint: Endpoint,
    private readonly work: WorkServers,
    private readonly servers: readonly NetworkServer[],
    agents: readonly (LaunchedAgent & { readonly server: string })[],
    seed: number,
  ) {
    this.stdioAgents = agents.filter(({ server }) => server === 'tool').map(({ name }) => name);
    this.clients = agents.map(
      ({ name, server, headers }, index) =>
        new ChaosClient({
          ...{ agent: name, server, headers, calls: this.calls },
          url: `http://127.0.0.1:${endpoint.port}/mcp/${server}`,
          random: randomOf(seed + 7919 * (index + 1)),
          fault: (words) => this.seen.push(words),
        }),
    );
  }

  private readonly stdioAgents: readonly string[];

  /** `rig` has not begun, and goes with this. */
  static async open(rig: GatewayRig, { size, seed }: { size: number; seed: number }): Promise<ChaosWorld> {
    const work = await WorkServers.create(mkdtempSync(join(tmpdir(), 'bowline-chaos-files-')));
    await stop(); // its process would be found as one that is left over
    const servers: NetworkServer[] = [];
    const definitions: Record<string, unknown> = { tool: work.stdioDefinition };
    for (const { name, way, lostStatus } of networkServers) {
      const server = await NetworkServer.start(work, { lostStatus, fromPort: 20_000 + (seed % 1_000) * 10 });
      servers.push(server);
      definitions[name] = server.definition(way);
    }
    const endpoint = await rig.start();
    const { window, agents } = await launchedAgents(rig, endpoint, { size, mcpServers: definitions });
    window.drop();
    const callers = agents.map((agent, index) => ({
      ...agent,
      server: serversOfTen[index % serversOfTen.length] ?? 'tool',
    }));
    return new ChaosWorld(rig, endpoint, work, servers, callers, seed);
  }

  get victims(): { readonly clients: number; readonly stdioServers: number; readonly networkServers: number } {
    const { clients, stdioAgents, servers } = this;
    return { clients: clients.length, stdioServers: stdioAgents.length, networkServers: servers.length };
  }

  /** What the servers carried out so far. */
  get effects(): readonly string[] {
    return this.work.effects;
  }

  /** Resolves when it is dead; false: there was nobody to kill, since what was killed before is not back. */
  async kill(victim: Victim): Promise<boolean> {
    const isKilled = await this.killed(victim);
    if (isKilled) this.kills.push({ at: performance.now(), kind: victim.kind });
    return isKilled;
  }

  /** Lets the holder start the programs as a newer version; resolves when that one is the version in use. */
  async upgrade(): Promise<void> {
    const { paths, programs } = this.rig;
    const { port, token } = this.endpoint;
    const version = `1.0.${++this.upgrades}`;
    const nodes = [process.execPath];
    const name = basename(await copyPrograms({ distDirectory: programs.directory, version, paths, nodes }));
    const { status } = await call({ port, token }, 'POST', '/takeover', { version: name });
    if (status !== 202) throw new Error(`the takeover was answered ${status}`);
    const isInUse = async (): Promise<boolean> => (await currentVersion(paths)) === name;
    await waitFor(`version ${name} in use`, isInUse, { timeoutMs: 60_000 });
  }

  /** Resolves when everything that was killed runs again, but for what the gateway starts on demand. */
  async calm(): Promise<void> {
    await Promise.all(this.restarts);
    await this.gateway();
  }

  /** Ends agents, gateway and holder as they end by themselves. Resolves with what is there nevertheless. */
  async end(): Promise<readonly string[]> {
    const left: string[] = [];
    const gone = async (what: string, found: () => readonly string[] | Promise<readonly string[]>): Promise<void> => {
      await waitFor(what, async () => (await found()).length === 0, patience).catch(() => undefined);
      left.push(...(await found()).map((one) => `${what}: ${one}`));
    };
    for (const client of this.clients) await client.kill(0);
    const endpoint = await this.rig.up();
    await this.stopAgents(endpoint);
    await gone('a stdio server of an agent that ended', () => this.work.stdioProcesses().map(processName));
    await gone('a socket of the gateway', () => this.socketsOf(endpoint.gateway.pid));
    const { holder } = await gatewayProcesses(this.rig.paths);
    kill(holder, 'SIGTERM');
    await gone('a process of the holder that ended', () => this.rig.processes().map(processName));
    await Promise.all(this.servers.map((server) => server.kill()));
    await gone('a process', () => findProcesses(tmpdir()).map(({ pid, command }) => `${pid} ${command}`));
    return left;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    await this.rig.dispose();
  }

  private async killed(victim: Victim): Promise<boolean> {
    switch (victim.kind) {
      case 'gateway':
        kill(await this.gateway(), 'SIGKILL');
        return true;
      case 'client':
        await this.clients[victim.index]?.kill(victim.downMs);
        return true;
      case 'stdio server': {
        const agent = this.stdioAgents[victim.index] ?? '';
        const pid = this.work.stdioProcess(agent);
        if (pid === undefined) return false;
        kill(pid, 'SIGKILL');
        return true;
      }
      case 'network server': {
        const server = this.servers[victim.index];
        if (server?.isRunning !== true) return false;
        await server.kill();
        this.restart(server, victim.downMs);
        return true;
      }
    }
  }

  private restart(server: NetworkServer, downMs: number): void {
    this.restarts.add(new Promise((resolve) => setTimeout(resolve, downMs)).then(() => server.restart()));
  }

  /** The pid of the gateway that runs. */
  private gateway(): Promise<number> {
    return waitFor('a gateway', async () => (await gatewayProcesses(this.rig.paths)).gateway, patience);
  }

  private async stopAgents(endpoint: Endpoint): Promise<void> {
    const window = await WindowStandIn.join(endpoint, 'chaos');
    await window.ask({ kind: 'stop all' });
    for (const { name, life } of Object.values(window.state.agents)) {
      const launchId = 'launch' in life ? life.launch.id : '';
      const exit = { how: 'exited', status: 0, reading: 'other', detail: '' } as const;
      window.report({ at: Date.now(), kind: 'process ended', name, launchId, exit });
    }
    await waitFor(
      'all agents to have ended',
      () => Object.values(window.state.agents).every(({ life }) => life.kind === 'stopped'),
      patience,
    );
    window.drop();
  }

  /**
   * Connections of the process to the servers, and those of agents that it did not close when the agent did. What the
   * pool of this process keeps open to the gateway is no fault of the gateway.
   */
  private socketsOf(pid: number): readonly string[] {
    const inodes = new Set(
      readdirSync(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1]),
    );
    const servers = new Set(this.servers.map(({ port }) => port));
    return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local = '', remote = '', state = '', , , , , , inode] = line.trim().split(/\s+/);
        const [from = 0, to = 0] = [local, remote].map((address) => Number.parseInt(address.split(':')[1] ?? '', 16));
        const isForgotten = from === this.endpoint.port && state === closeWait;
        if (!inodes.has(inode) || (!servers.has(to) && !isForgotten)) return [];
        return [`${from} to ${to} in state ${state}`];
      });
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // closed meanwhile
  }
}
