import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import type { BindingRecord } from '../../../src/core/binding/bindingRecord.ts';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import { bundlePrograms } from '../../harness/bundle.ts';
import { call as ask, GatewayRig } from '../../harness/gatewayRig.ts';
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
  let clients: Client[] = [];
  let transports: StreamableHTTPClientTransport[] = [];

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
    window.close();
    await rig.dispose();
  });

  afterEach(async () => {
    await Promise.all(transports.map((transport) => transport.terminateSession().catch(() => undefined)));
    await Promise.all(clients.map((client) => client.close()));
    [transports, clients] = [[], []];
    await waitFor('the end of their servers', () => servers().length === 0, patience);
  });

  const servers = (): number[] => findProcesses(join(rig.programs.directory, 'sdk.js')).map(({ pid }) => pid);

  const call = async (client: Client, name: string, input: Record<string, unknown> = {}): Promise<string> => {
    const { content } = resultSchema.parse(await client.callTool({ name, arguments: input }));
    return content.map(({ text }) => text).join('\n');
  };

  const begin = async (agent: string): Promise<string> => {
    await window.ask({ kind: 'create', name: agent, directory: rig.directory() });
    return window.launch(agent);
  };

  const connect = async (agent: string, launchId: string, server: string): Promise<Client> => {
    const key = readFileSync(rig.paths.agent(agent).key, 'utf8').trim();
    const headers = { 'x-agent-name': agent, 'x-agent-launch': launchId, authorization: `Bearer ${key}` };
    const client = new Client({ name: 'client-2', version: '2.4.0' });
    const url = new URL(`http://127.0.0.1:${endpoint.port}/mcp/${server}`);
    const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
    await client.connect(transport);
    transports.push(transport);
    clients.push(client);
    return client;
  };

  it('are reconnected for a window and a script, with what came of it on record', async () => {
    const record = (): BindingRecord | undefined => window.state.agents['bo']?.bindings['notes'];
    const launchId = await begin('bo');
    const client = await connect('bo', launchId, 'notes');
    await call(client, 'echo', { text: 'here' });
    const first = servers();
    const refusals = [
      await window.ask({ kind: 'reconnect upstream', name: 'bo', server: 'bowline-self' }),
      await window.ask({ kind: 'reconnect upstream', name: 'bo', server: 'stubborn' }),
      await window.ask({ kind: 'reconnect upstream', name: 'cy', server: 'notes' }),
    ];
    const asked = await window.ask({ kind: 'reconnect upstream', name: 'bo', server: 'notes' });
    await waitFor('the verification', () => record()?.update === undefined && record()?.goodCall !== undefined);
    const second = servers();
    const script = await ask(endpoint, 'POST', '/agents/bo/reconnect-upstream', { server: 'notes' });
    await waitFor('the other process', () => servers().some((pid) => ![...first, ...second].includes(pid)));
    await waitFor('the verification', () => record()?.update === undefined);
    assert.deepStrictEqual(
      {
        refusals: refusals.map((error) => [error?.code, error?.sentence]),
        asked,
        processes: [first.length, second.length, second.some((pid) => first.includes(pid))],
        script: script.status,
        answer: await call(client, 'echo', { text: 'again' }),
        audit: window.state.audit.flatMap((one) =>
          one.action === 'deed' && one.agent === 'bo' && one.what.includes('MCP server')
            ? [`${one.what}, ${one.by}`]
            : [],
        ),
      },
      {
        refusals: [
          ['bad-request', 'No MCP server "bowline-self" of bo is behind the gateway. These are: notes, stubborn.'],
          [
            'bad-request',
            'bo has not opened "stubborn" yet, so nothing is connected to it. Reconnect MCP has the agent open it.',
          ],
          ['unknown-agent', 'No agent is named "cy". There are: bo.'],
        ],
        asked: undefined,
        processes: [1, 1, false],
        script: 204,
        answer: 'again',
        audit: [
          'reconnect of MCP server notes asked for, window-one',
          'MCP server notes connected anew, gateway',
          'reconnect of MCP server notes asked for, admin API',
          'MCP server notes connected anew, gateway',
        ],
      },
    );
  });

  it('outlive no gateway: one that was killed, and one that ends; the agent goes on', async () => {
    const launchId = await begin('ada');
    for (const name of ['notes', 'stubborn']) await connect('ada', launchId, name);
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
