import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { postReport } from '../../src/hook/post.ts';
import { readEndpointFile } from '../../src/node/endpointFile.ts';
import { type StatePaths, statePaths } from '../../src/node/statePaths.ts';
import { agentSchema } from '../../src/protocol/fleetState.ts';
import { waitFor } from '../harness/waitFor.ts';
import { type DemoFleet, prepareDemoFleet } from '../host/demoFleet.ts';
import { type HostServer, startServer } from '../host/server.ts';
import { type Browser, launchBrowser, openView, openWorkbench } from '../host/workbench.ts';
import { extensionHostOf } from './extensionHost.ts';

const oneSchema = z.object({ agent: agentSchema });
const allSchema = z.object({
  settings: z.object({ claudePath: z.string() }),
  agents: z.array(z.object({ worst: z.string(), life: z.string() })),
});

/** How many agents are started at a time: more would wait for each other. */
const atOnce = 10;
const patience = { timeoutMs: 120_000 };

/**
 * Idle agents in a real VS Code, with Bowline's side bar open: real holder, gateway, tmux and panes. In each pane sleeps a
 * stand-in for claude; what claude says over MCP and by its hooks this process says for all of them. Beside it stands the
 * same VS Code without Bowline.
 */
export class IdleFleet {
  private readonly clients: Client[] = [];
  private readonly servers: HostServer[] = [];
  private browser: Browser | undefined;
  private readonly hostPids: number[] = [];

  private constructor(private readonly fleet: DemoFleet) {}

  /** Resolves when that many agents are bound. Nothing is left over when it fails. */
  static async open(size: number): Promise<IdleFleet> {
    const idle = new IdleFleet(await prepareDemoFleet({ kind: 'own' }));
    try {
      await idle.openWindows();
      const names = Array.from({ length: size }, (_, index) => `agent-${index + 1}`);
      while (names.length > 0) await Promise.all(names.splice(0, atOnce).map((name) => idle.addAgent(name)));
      await waitFor('every agent to be bound', () => idle.isCalm(), patience);
      return idle;
    } catch (error) {
      await idle.dispose();
      throw error;
    }
  }

  /** Pids of the extension hosts. */
  get hosts(): { readonly withBowline: number; readonly bare: number } {
    const [withBowline = 0, bare = 0] = this.hostPids;
    return { withBowline, bare };
  }

  get paths(): StatePaths {
    return statePaths(this.fleet.stateDirectory);
  }

  /** Private; whatever runs in or for it ends with the fleet. */
  get directory(): string {
    return path.dirname(this.fleet.stateDirectory);
  }

  /** Whether every agent is ready and bound. */
  async isCalm(): Promise<boolean> {
    const { agents } = allSchema.parse(await this.fleet.request('GET', '/agents'));
    return agents.every(({ worst, life }) => worst === 'bound' && life === 'ready');
  }

  async dispose(): Promise<void> {
    for (const client of this.clients) await client.close().catch(() => undefined);
    await this.browser?.close();
    for (const server of this.servers) await server.dispose();
    await this.fleet.dispose();
  }

  private async openWindows(): Promise<void> {
    const { fleet } = this;
    const below = (name: string): string => path.join(this.directory, name);
    const program = below('sleeping-claude');
    await writeFile(program, '#!/bin/sh\nexec sleep 86400\n');
    await chmod(program, 0o755);
    // Claude makes this directory at its first start.
    await mkdir(below('home/.claude/sessions'), { recursive: true });
    await mkdir(fleet.stateDirectory, { mode: 0o700 });
    const bare = { userDataDirectory: below('bare-data'), extensionsDirectory: below('bare-extensions') };
    for (const directory of Object.values(bare)) await mkdir(directory);
    const settings = {
      'bowline.claudePath': program,
      'bowline.environment': { HOME: below('home') },
      // A server's extension host looks through all processes for ports to forward, unless terminals tell of them: that
      // is many times more than what is measured.
      'remote.autoForwardPorts': false,
      'remote.autoForwardPortsSource': 'output',
    };
    this.browser = await launchBrowser({ window: 'headless' });
    for (const options of [fleet, { ...bare, environment: fleet.environment }]) {
      const server = await startServer({ ...options, settings, mode: 'plain' });
      this.servers.push(server);
      const page = await openWorkbench(this.browser, server, { folder: fleet.workspace });
      if (options === fleet) await openView(page, 'Bowline');
      this.hostPids.push(await extensionHostOf(options.userDataDirectory));
    }
    await waitFor(
      "the window's settings to reach the gateway",
      async () => allSchema.parse(await fleet.request('GET', '/agents')).settings.claudePath === program,
      patience,
    );
  }

  /** Creates an agent, and does for its sleeping process what claude does when it starts. */
  private async addAgent(name: string): Promise<void> {
    const { fleet, paths } = this;
    await fleet.request('POST', '/agents', { body: { name, directory: fleet.agents[0]?.directory } });
    const launchId = await waitFor(
      `${name} to run`,
      async () => {
        const { life } = oneSchema.parse(await fleet.request('GET', `/agents/${name}`)).agent;
        return life.kind === 'running' && life.running.launch.id;
      },
      patience,
    );
    const reading = await readEndpointFile(paths);
    if (reading.kind !== 'ok') throw new Error('the endpoint file is gone');
    const { port } = reading.endpoint;
    const key = (await readFile(paths.agent(name).key, 'utf8')).trim();
    const sessionId = `session-of-${name}`;
    const hook = { event: 'SessionStart', source: 'startup', sessionId, transcriptExists: false } as const;
    const outcome = await postReport({ port, agent: name, key }, { at: Date.now(), launchId, hook }, 30_000);
    if (outcome.kind !== 'taken') throw new Error(`the hook of ${name} was not taken: ${outcome.reason}`);
    const client = new Client({ name: 'claude-code', version: '2.1.332' });
    this.clients.push(client);
    const headers = { 'x-agent-name': name, 'x-agent-launch': launchId, authorization: `Bearer ${key}` };
    const url = new URL(`http://127.0.0.1:${port}/mcp/bowline-self`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    await client.listTools();
  }
}
