import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { delay } from '../../src/base/async.ts';
import { startIdleNode } from './bareServer.ts';
import { type Figure, median } from './figure.ts';
import { proportional } from './memory.ts';
import { bundled, PortProgram } from './portProgram.ts';
import { ServedFleet } from './servedFleet.ts';

const size = 200;
const samples = 5;
/** So many agents come at once. */
const atOnce = 20;
/** Of Bowline's own one, of the others behind the gateway three. */
const endpoints = ['bowline-self', 'one', 'two', 'three'];

/** Holder and gateway with 200 agents that each have four MCP sessions in use, with a standing stream; Linux only. */
export const sessions: Figure = {
  name: 'sessions',
  measure: async () => {
    const program = await bundled({ server: 'test/bench/sdkServerMain.ts' });
    const server = await PortProgram.start(program('server'));
    const url = `http://127.0.0.1:${server.port}/mcp`;
    const mcpServers = Object.fromEntries(['one', 'two', 'three'].map((name) => [name, { type: 'http', url }]));
    const idle = startIdleNode();
    const fleet = await ServedFleet.open({ size, mcpServers });
    const clients: Client[] = [];
    try {
      for (let first = 0; first < size; first += atOnce) {
        const some = fleet.agents.slice(first, first + atOnce);
        const opened = some.flatMap(({ headers }) => endpoints.map((name) => used(fleet.endpoint.port, name, headers)));
        clients.push(...(await Promise.all(opened)));
      }
      const all: number[] = [];
      const gateway: number[] = [];
      const references: number[] = [];
      for (let sample = 0; sample < samples; sample += 1) {
        await delay(2_000);
        all.push(await proportional(fleet.rig.processes()));
        gateway.push(await proportional([fleet.endpoint.gateway.pid]));
        references.push(await proportional([idle.pid]));
      }
      return [
        {
          ...{ name: 'sessions: memory, 200 agents x 4', value: median(all), unit: 'MB', goal: 200 },
          remark: `gateway ${Math.round(median(gateway))} MB; a Node that does nothing ${Math.round(median(references))} MB`,
        },
      ];
    } finally {
      for (const client of clients) await client.close().catch(() => undefined);
      await fleet.dispose();
      await idle.dispose();
      await server.dispose();
    }
  },
};

/** A client of the public library that has listed the tools and called one. */
async function used(port: number, name: string, headers: Readonly<Record<string, string>>): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  const url = new URL(`http://127.0.0.1:${port}/mcp/${name}`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  await client.listTools();
  await client.callTool(
    name === 'bowline-self' ? { name: 'whoami', arguments: {} } : { name: 'echo', arguments: { text: name } },
  );
  return client;
}
