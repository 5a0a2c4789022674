import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Endpoint } from '../../src/protocol/endpointFile.ts';
import { GatewayRig } from '../harness/gatewayRig.ts';
import { WindowStandIn } from '../harness/gatewayWindow.ts';
import { waitFor } from '../harness/waitFor.ts';
import { repository } from '../host/setup.mjs';

/** How many agents a figure is taken with. */
export const fleetSize = 50;

/**
 * The built, minified holder and gateway with 50 agents whose tools are in use: each agent is an MCP client of the public
 * library in this process, with a session and a standing stream. Their launches are told by a stand-in for a window.
 */
export class BoundFleet {
  private constructor(
    readonly rig: GatewayRig,
    readonly endpoint: Endpoint,
    readonly window: WindowStandIn,
    private readonly clients: readonly Client[],
  ) {}

  static async open(): Promise<BoundFleet> {
    const rig = new GatewayRig({ directory: path.join(repository, 'dist'), dispose: () => undefined });
    try {
      const endpoint = await rig.start();
      const window = await WindowStandIn.join(endpoint, 'bench');
      const settings = { claudePath: 'claude', environment: {}, healing: 'off', handsWithoutWindow: 'off' } as const;
      await window.ask({ kind: 'configure', settings });
      const directory = rig.directory();
      const clients: Client[] = [];
      for (let index = 1; index <= fleetSize; index += 1) {
        const name = `agent-${index}`;
        const problem = await window.ask({ kind: 'create', name, directory });
        if (problem !== undefined) throw new Error(`${name}: ${problem.sentence}`);
        const launch = await window.launch(name);
        clients.push(await connect(endpoint, name, launch, (await readFile(rig.paths.agent(name).key, 'utf8')).trim()));
      }
      await waitFor(
        'every agent to have a proof',
        () => Object.values(window.state.agents).every(({ bindings }) => bindings['bowline-self']?.proof !== undefined),
        { timeoutMs: 30_000 },
      );
      return new BoundFleet(rig, endpoint, window, clients);
    } catch (error) {
      await rig.dispose();
      throw error;
    }
  }

  /** Ends the clients; the agents stay in the state. */
  async disconnect(): Promise<void> {
    for (const client of this.clients) await client.close().catch(() => undefined);
  }

  async dispose(): Promise<void> {
    await this.disconnect();
    this.window.drop();
    await this.rig.dispose();
  }
}

async function connect(endpoint: Endpoint, name: string, launch: string, key: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  const headers = { 'x-agent-name': name, 'x-agent-launch': launch, authorization: `Bearer ${key}` };
  const url = new URL(`http://127.0.0.1:${endpoint.port}/mcp/bowline-self`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  await client.listTools();
  return client;
}
