import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import { GatewayRig } from '../../harness/gatewayRig.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { waitFor } from '../../harness/waitFor.ts';

const resultSchema = z.object({ content: z.array(z.object({ text: z.string() })) });
const settings = { claudePath: 'claude', environment: {}, healing: 'off' } as const;

describe('messages and notes of a real gateway, through real MCP clients', function () {
  this.timeout(300_000);
  let rig: GatewayRig;
  let endpoint: Endpoint;
  let window: WindowStandIn;
  const clients: Client[] = [];

  const headersOf = async (name: string): Promise<Record<string, string>> => {
    await window.ask({ kind: 'create', name, directory: rig.directory() });
    const launchId = await window.launch(name);
    const key = readFileSync(rig.paths.agent(name).key, 'utf8').trim();
    return { 'x-agent-name': name, 'x-agent-launch': launchId, authorization: `Bearer ${key}` };
  };

  const connect = async (server: string, headers: Record<string, string>): Promise<Client> => {
    const client = new Client({ name: 'client-2', version: '2.4.0' });
    const url = new URL(`http://127.0.0.1:${endpoint.port}/mcp/${server}`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    clients.push(client);
    return client;
  };

  const call = async (client: Client, name: string, input: Record<string, unknown> = {}): Promise<string> => {
    const { content } = resultSchema.parse(await client.callTool({ name, arguments: input }));
    return content.map(({ text }) => text).join('\n');
  };

  const texts = (shown: string): string[] => [...shown.matchAll(/^> (.*)$/gm)].map(([, text = '']) => text);

  before(async () => {
    rig = await GatewayRig.bundled();
    endpoint = await rig.start();
    window = await WindowStandIn.join(endpoint, 'window-one');
    await window.ask({ kind: 'configure', settings: { ...settings, messaging: 'on', memory: 'on' } });
  });
  after(async () => {
    for (const client of clients) await client.close();
    window.close();
    await rig.dispose();
  });

  it('tell a model when to use them, and are allowed without a question', async () => {
    const headers = await headersOf('eve');
    const [messaging, memory] = [await connect('bowline-messaging', headers), await connect('bowline-memory', headers)];
    const toolNames = async (client: Client): Promise<string[]> =>
      (await client.listTools()).tools.map(({ name }) => name);
    const { permissions } = z
      .object({ permissions: z.object({ allow: z.array(z.string()) }) })
      .parse(JSON.parse(readFileSync(rig.paths.agent('eve').settings, 'utf8')));
    assert.deepStrictEqual(
      {
        tools: [await toolNames(messaging), await toolNames(memory)],
        told: [
          messaging.getInstructions()?.includes('Call inbox when'),
          memory.getInstructions()?.includes('Call recall before'),
        ],
        allowed: permissions.allow,
      },
      {
        tools: [
          ['send', 'inbox', 'ack'],
          ['remember', 'recall', 'forget'],
        ],
        told: [true, true],
        allowed: ['mcp__bowline-self', 'mcp__bowline-messaging', 'mcp__bowline-memory'],
      },
    );
  });

  it('lose nothing that was promised, and reorder nothing, when the gateway is killed at any time', async () => {
    const [ada, bo] = [await headersOf('ada'), await headersOf('bo')];
    const [sender, receiver] = [await connect('bowline-messaging', ada), await connect('bowline-messaging', bo)];
    const notes = await connect('bowline-memory', ada);
    const promised: string[] = [];
    const kept: string[] = [];
    /** One after another until the kill cuts a call off, whose outcome nobody knows. */
    const work = async (round: number): Promise<void> => {
      for (let count = 0; count < 9; count++) {
        const text = `round ${round} message ${count}`;
        assert.match(await call(sender, 'send', { to: ['bo'], text }), /^Sent to bo/);
        promised.push(text);
        assert.match(await call(notes, 'remember', { text, scope: 'shared' }), /^Kept/);
        kept.push(text);
      }
    };
    for (const round of [1, 2, 3]) {
      const before = promised.length;
      const working = work(round).catch(() => undefined);
      await waitFor('a few messages', () => promised.length >= before + round * 2, { timeoutMs: 60_000 });
      endpoint = await rig.restartGateway(endpoint);
      await working;
    }
    const shown = texts(await call(receiver, 'inbox'));
    const [first = ''] = /m-[0-9a-f]{10}/.exec(await call(receiver, 'inbox')) ?? [];
    await call(receiver, 'ack', { ids: [first] });
    endpoint = await rig.restartGateway(endpoint);
    const after = texts(await call(receiver, 'inbox'));
    const recalled = texts(await call(notes, 'recall', { query: 'message', limit: 50 }));
    const unpromised = shown.filter((text) => !promised.includes(text));
    assert.deepStrictEqual(
      {
        order: shown.filter((text) => promised.includes(text)),
        // At most the one that each kill cut off was delivered without an answer.
        unpromised: unpromised.length <= 3,
        after,
        lostNotes: kept.filter((text) => !recalled.includes(text)),
      },
      { order: promised, unpromised: true, after: shown.slice(1), lostNotes: [] },
    );
  });

  it('go with their agent', async () => {
    window = await WindowStandIn.join(endpoint, 'window-two');
    const files = [rig.paths.agent('bo').inbox, rig.paths.sharedNotes];
    const before = files.map((file) => existsSync(file));
    // That it runs may have been lost with a kill: then these hands are asked to launch it, as all hands after it are.
    if (window.state.agents['bo']?.life.kind === 'launching') await window.launch('bo');
    const { life } = window.state.agents['bo'] ?? {};
    await window.ask({ kind: 'remove', name: 'bo' });
    if (life?.kind !== 'running') throw new Error('bo does not run');
    const exit = { how: 'exited', status: 0, reading: 'other', detail: 'exited' } as const;
    const { id: launchId } = life.running.launch;
    window.report({ at: Date.now(), kind: 'process ended', name: 'bo', launchId, exit });
    await waitFor('the files of bo gone', () => !existsSync(rig.paths.agent('bo').directory));
    assert.deepStrictEqual([before, existsSync(rig.paths.sharedNotes)], [[true, true], true]);
  });
});
