import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { bindingHealth } from '../../../src/core/binding/health.ts';
import { agentRunning, epochStarted, MemoryFleet } from '../../harness/mcpFleet.ts';
import { type McpHost, startMcpHost } from '../../harness/mcpHost.ts';
import { identityOf } from '../../harness/mcpWire.ts';
import { waitFor } from '../../harness/waitFor.ts';

/** What both clients can do, in the words of the test. */
interface ConnectedClient {
  readonly instructions: string | undefined;
  readonly sessionId: () => string | undefined;
  tools(): Promise<string[]>;
  call(name: string, input?: Record<string, unknown>): Promise<{ readonly text: string; readonly isError: boolean }>;
  end(): Promise<void>;
  close(): Promise<void>;
}

function read(result: object): { readonly text: string; readonly isError: boolean } {
  const content: unknown[] = 'content' in result && Array.isArray(result.content) ? result.content : [];
  const text = content
    .map((part) => (typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : ''))
    .join('\n');
  return { text, isError: 'isError' in result && result.isError === true };
}

/** Comes back to a dropped stream at once, as often as needed. */
const reconnectionOptions = {
  initialReconnectionDelay: 20,
  maxReconnectionDelay: 100,
  reconnectionDelayGrowFactor: 1.2,
  maxRetries: 50,
};

async function connect2(url: string, headers: Record<string, string>): Promise<ConnectedClient> {
  const client = new Client2({ name: 'client-2', version: '2.4.0' });
  const transport = new Transport2(new URL(url), { requestInit: { headers }, reconnectionOptions });
  await client.connect(transport);
  return {
    instructions: client.getInstructions(),
    sessionId: () => transport.sessionId,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, input = {}) => read(await client.callTool({ name, arguments: input })),
    end: () => transport.terminateSession(),
    close: () => client.close(),
  };
}

async function connect1(url: string, headers: Record<string, string>): Promise<ConnectedClient> {
  const client = new Client1({ name: 'sdk-1', version: '1.32.2' });
  const transport = new Transport1(new URL(url), { requestInit: { headers }, reconnectionOptions });
  await client.connect(transport);
  return {
    instructions: client.getInstructions(),
    sessionId: () => transport.sessionId,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, input = {}) => read(await client.callTool({ name, arguments: input })),
    end: () => transport.terminateSession(),
    close: () => client.close(),
  };
}

for (const [label, connect] of Object.entries({ 'client 2.x': connect2, 'sdk 1.x': connect1 })) {
  describe(`MCP endpoint with the real ${label}`, () => {
    let directory: string;
    let fleet: MemoryFleet;
    let host: McpHost;
    let client: ConnectedClient;

    const health = (): string => {
      const agent = fleet.state.agents['ada'];
      return agent === undefined ? 'none' : bindingHealth(agent, 'bowline-self', fleet.state.epoch, Date.now()).state;
    };

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bowline-clients-'));
      fleet = new MemoryFleet();
      fleet.report(epochStarted('e1', Date.now()));
      for (const event of agentRunning('ada', Date.now())) fleet.report(event);
      host = await startMcpHost({ directory, fleet });
      client = await connect(host.url(), identityOf('ada'));
    });

    afterEach(async () => {
      await client.close();
      await host.kill();
      await rm(directory, { recursive: true });
    });

    it('is bound: tools, instructions, a probe answered on the standing stream', async () => {
      const tools = await client.tools();
      await waitFor('the binding', () => health() === 'bound');
      const [answered] = fleet.ofKind('probe answered');
      assert.deepStrictEqual(
        {
          tools: tools.sort(),
          instructions: client.instructions?.includes('save_my_context'),
          roundTrip: answered !== undefined && answered.roundTripMs < 5_000,
          whoami: (await client.call('whoami')).text.split('\n')[0],
        },
        {
          tools: ['context_status', 'list_agents', 'load_my_context', 'save_my_context', 'whoami'],
          instructions: true,
          roundTrip: true,
          whoami: 'You are the agent "ada" of Bowline.',
        },
      );
    });

    it('is bound again after a kill of the gateway, under the same session, with calls and stream', async () => {
      await client.tools();
      await waitFor('the binding', () => health() === 'bound');
      const before = client.sessionId();
      const { port } = host;
      await host.kill();
      fleet.report(epochStarted('e2', Date.now()));
      host = await startMcpHost({ directory, fleet, port });
      const text = (await client.call('whoami')).text;
      await waitFor('the binding in the new epoch', () => health() === 'bound');
      assert.deepStrictEqual(
        {
          session: client.sessionId() === before,
          served: text.includes('"ada"'),
          initialized: fleet.ofKind('mcp initialized').length,
          sessions: host.sessions.all().length,
        },
        { session: true, served: true, initialized: 1, sessions: 1 },
      );
    });

    it('ends its session by DELETE', async () => {
      const id = client.sessionId() ?? '';
      const known = host.sessions.get(id)?.agent;
      await client.end();
      assert.deepStrictEqual([known, host.sessions.endedBecause(id)], ['ada', 'deleted by the client']);
    });
  });
}
