import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import { bundlePrograms } from '../../harness/bundle.ts';
import { GatewayRig } from '../../harness/gatewayRig.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { findProcesses } from '../../harness/processes.mjs';
import { waitFor } from '../../harness/waitFor.ts';

const resultSchema = z.object({ content: z.array(z.object({ text: z.string() })) });
const patience = { timeoutMs: 30_000 };

describe('stdio servers of a real gateway', function () {
  this.timeout(120_000);
  let rig: GatewayRig;
  let endpoint: Endpoint;
  let window: WindowStandIn;
  const clients: Client[] = [];

  before(async () => {
    rig = await GatewayRig.bundled();
    const sdk = join(import.meta.dirname, '../../harness/upstreams/sdkStdioMain.ts');
    await bundlePrograms({ entryPoints: { sdk }, directory: rig.programs.directory });
    endpoint = await rig.start();
    window = await WindowStandIn.join(endpoint, 'window-one');
    const server = (...words: string[]): object => ({
      command: process.execPath,
      args: [join(rig.programs.directory, 'sdk.js'), ...words],
    });
    const servers = { notes: server(), stubborn: server('deaf') };
    await window.ask({
      kind: 'configure',
      settings: { claudePath: 'claude', environment: {}, healing: 'off', mcpServers: servers },
    });
  });

  after(async () => {
    await Promise.all(clients.map((client) => client.close()));
    window.close();
    await rig.dispose();
  });

  const servers = (): number[] => findProcesses(join(rig.programs.directory, 'sdk.js')).map(({ pid }) => pid);

  const call = async (client: Client, name: string, input: Record<string, unknown> = {}): Promise<string> => {
    const { content } = resultSchema.parse(await client.callTool({ name, arguments: input }));
    return content.map(({ text }) => text).join('\n');
  };

  it('outlive no gateway: one that was killed, and one that ends; the agent goes on', async () => {
    await window.ask({ kind: 'create', name: 'ada', directory: rig.directory() });
    const launchId = await window.launch('ada');
    const key = readFileSync(rig.paths.agent('ada').key, 'utf8').trim();
    const headers = { 'x-agent-name': 'ada', 'x-agent-launch': launchId, authorization: `Bearer ${key}` };
    for (const name of ['notes', 'stubborn']) {
      const client = new Client({ name: 'client-2', version: '2.4.0' });
      const url = new URL(`http://127.0.0.1:${endpoint.port}/mcp/${name}`);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      clients.push(client);
    }
    const answers = (): Promise<string[]> =>
      Promise.all(clients.map((client) => call(client, 'echo', { text: 'here' })));
    const before = [await answers(), servers()] as const;
    endpoint = await rig.restartGateway(endpoint);
    const after = [await answers(), servers().filter((pid) => !before[1].includes(pid))] as const;
    await waitFor(
      'those of the killed gateway to be gone',
      () => !servers().some((pid) => before[1].includes(pid)),
      patience,
    );
    await waitFor('their records to be gone', () => readdirSync(rig.paths.upstreams).length === 2, patience);
    process.kill(endpoint.gateway.pid, 'SIGTERM');
    await waitFor('all to be gone', () => servers().length === 0, patience);
    assert.deepStrictEqual(
      { before: [before[0], before[1].length], after: [after[0], after[1].length] },
      { before: [['here', 'here'], 2], after: [['here', 'here'], 2] },
    );
  });
});
