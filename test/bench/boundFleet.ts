import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { waitFor } from '../harness/waitFor.ts';
import { ServedFleet } from './servedFleet.ts';

/** How many agents a figure is taken with. */
export const fleetSize = 50;

/** A fleet whose tools are in use: each agent is an MCP client of the public library, with a session and a standing stream. */
export class BoundFleet {
  private constructor(
    private readonly served: ServedFleet,
    private readonly clients: readonly Client[],
  ) {}

  static async open(): Promise<BoundFleet> {
    const served = await ServedFleet.open({ size: fleetSize });
    try {
      const clients: Client[] = [];
      for (const { headers } of served.agents) {
        const client = new Client({ name: 'bench', version: '1' });
        const url = new URL(`http://127.0.0.1:${served.endpoint.port}/mcp/bowline-self`);
        await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
        await client.listTools();
        clients.push(client);
      }
      await waitFor(
        'every agent to have a proof',
        () =>
          Object.values(served.window.state.agents).every(
            ({ bindings }) => bindings['bowline-self']?.proof !== undefined,
          ),
        { timeoutMs: 30_000 },
      );
      return new BoundFleet(served, clients);
    } catch (error) {
      await served.dispose();
      throw error;
    }
  }

  get rig(): ServedFleet['rig'] {
    return this.served.rig;
  }

  get endpoint(): ServedFleet['endpoint'] {
    return this.served.endpoint;
  }

  /** Ends the clients; the agents stay in the state. */
  async disconnect(): Promise<void> {
    for (const client of this.clients) await client.close().catch(() => undefined);
  }

  async dispose(): Promise<void> {
    await this.disconnect();
    await this.served.dispose();
  }
}
