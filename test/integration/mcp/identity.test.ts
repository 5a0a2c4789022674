import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { bindingHealth } from '../../../src/core/binding/health.ts';
import { agentRunning, epochStarted, MemoryFleet } from '../../harness/mcpFleet.ts';
import { type McpHost, startMcpHost } from '../../harness/mcpHost.ts';
import { identityOf, initializeRequest, wire, type WireAnswer, WireClient } from '../../harness/mcpWire.ts';

const faultSchema = z.object({
  error: z.object({ message: z.string(), data: z.object({ cause: z.string(), nextStep: z.string() }) }),
});

describe('identity over HTTP', () => {
  let directory: string;
  let fleet: MemoryFleet;
  let host: McpHost;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bowline-identity-'));
    fleet = new MemoryFleet();
    fleet.report(epochStarted('e1', Date.now()));
    for (const name of ['ada', 'bo']) for (const event of agentRunning(name, Date.now())) fleet.report(event);
    host = await startMcpHost({ directory, fleet });
  });

  afterEach(async () => {
    await host.kill();
    await rm(directory, { recursive: true });
  });

  const asking = (headers: Record<string, string>): Promise<WireAnswer> =>
    wire(host.port, { headers, body: initializeRequest() });

  it('tells six faults of a name apart, each with its own next step, and serves nobody', async () => {
    const { 'x-agent-name': _name, ...nameless } = identityOf('ada');
    const names = {
      literal: '${AGENT_NAME}',
      // A space at either end is no part of a header's value (RFC 9110, 5.5); one inside is.
      malformed: 'ada b',
      empty: '',
      unknown: 'zoe',
    };
    const answers: Record<string, WireAnswer> = {
      absent: await asking(nameless),
      wrongKey: await asking({ ...identityOf('ada'), authorization: 'Bearer nonsense' }),
    };
    for (const [which, name] of Object.entries(names)) {
      answers[which] = await asking({ ...identityOf('ada'), 'x-agent-name': name });
    }
    const told = Object.entries(answers).map(([which, { status, json }]) => {
      const { data } = faultSchema.parse(json).error;
      return { which, status, ...data };
    });
    assert.deepStrictEqual(
      {
        causes: told.map(({ which, status, cause }) => `${which}: ${status} ${cause}`),
        nextSteps: new Set(told.map(({ nextStep }) => nextStep)).size,
        sessions: host.sessions.all().length,
        opened: host.opened(),
        faults: fleet.ofKind('identity fault').map(({ cause, name, server }) => [cause, name, server]),
      },
      {
        causes: [
          'absent: 400 name missing',
          'wrongKey: 403 key wrong',
          'literal: 400 name literal variable',
          'malformed: 400 name malformed',
          'empty: 400 name blank',
          'unknown: 403 name unknown',
        ],
        nextSteps: 6,
        sessions: 0,
        opened: 0,
        faults: [
          ['name missing', 'ada', 'bowline-self'],
          ['key wrong', 'ada', 'bowline-self'],
          ['name literal variable', 'ada', 'bowline-self'],
          ['name malformed', 'ada', 'bowline-self'],
          ['name blank', 'ada', 'bowline-self'],
          ['name unknown', 'ada', 'bowline-self'],
        ],
      },
    );
  });

  it('holds whoever opened the session responsible where key and launch tell nothing', async () => {
    const client = await WireClient.initialize(host.port, 'bo');
    const answer = await wire(host.port, {
      headers: { 'x-agent-name': 'ada', 'mcp-session-id': client.session },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    });
    const agent = fleet.state.agents['bo'];
    assert.deepStrictEqual(
      {
        status: answer.status,
        faults: fleet.ofKind('identity fault').map(({ cause, name }) => [cause, name]),
        bo: agent && bindingHealth(agent, 'bowline-self', fleet.state.epoch, Date.now()),
      },
      { status: 403, faults: [['key missing', 'bo']], bo: { state: 'unbound', cause: 'key missing' } },
    );
  });

  it('refuses every verb and message alike, and never with 401', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const headers = { ...client.headers(), authorization: 'Bearer key-of-bo' };
    const answers = [
      await wire(host.port, { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }),
      await wire(host.port, { headers, body: { jsonrpc: '2.0', id: 1, method: 'server/discover' } }),
      await wire(host.port, { headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } }),
      await wire(host.port, { headers, method: 'GET' }),
      await wire(host.port, { headers, method: 'DELETE' }),
      await wire(host.port, { path: '/mcp/other', headers: client.headers(), body: initializeRequest() }),
      await wire(host.port, { path: '/mcp/bowline-memory', headers: client.headers(), body: initializeRequest() }),
    ];
    assert.deepStrictEqual(
      answers.map(({ status, json }) => `${status} ${faultSchema.parse(json).error.data.cause}`),
      [...Array.from({ length: 5 }, () => '403 key of another agent'), '403 server unknown', '403 server unknown'],
    );
    assert.equal((await client.call('whoami')).status, 200);
  });

  it('is not flooded by a client gone wild', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => asking({ 'x-agent-name': 'ada' })));
    assert.deepStrictEqual(
      [answers.every(({ status }) => status === 403), fleet.ofKind('identity fault').length],
      [true, 1],
    );
  });

  it('answers server/discover at once with -32601 and opens no session', async () => {
    const ask = async (): Promise<{ readonly answer: WireAnswer; readonly tookMs: number }> => {
      const startedAt = performance.now();
      const answer = await wire(host.port, {
        headers: { ...identityOf('ada'), 'mcp-method': 'server/discover', 'mcp-protocol-version': '2026-07-28' },
        body: { jsonrpc: '2.0', id: 'server-discover-probe-1', method: 'server/discover', params: {} },
      });
      return { answer, tookMs: performance.now() - startedAt };
    };
    const { answer, tookMs } = await ask();
    // The best of several: a busy machine proves nothing against the gateway.
    const best = Math.min(tookMs, ...(await Promise.all([ask(), ask(), ask()])).map((one) => one.tookMs));
    assert.deepStrictEqual(
      {
        status: answer.status,
        json: answer.json,
        sessions: host.sessions.all().length,
        id: answer.headers['mcp-session-id'],
      },
      {
        status: 200,
        json: {
          jsonrpc: '2.0',
          id: 'server-discover-probe-1',
          error: { code: -32601, message: 'Method not found' },
        },
        sessions: 0,
        id: undefined,
      },
    );
    assert.ok(best < 200, `took ${best} ms`);
  });

  it('looks at host and origin before anything else, and at nothing else then', async () => {
    const client = await WireClient.initialize(host.port, 'ada');
    const before = fleet.events.length;
    const statuses: number[] = [];
    for (const edge of [
      { host: 'evil.example' },
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { host: `evil.example:${host.port}`, 'x-agent-name': '' },
    ]) {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const answer = await wire(host.port, { headers: { ...client.headers(), ...edge }, body });
      statuses.push(answer.status);
      assert.equal(typeof answer.json, 'object');
    }
    assert.deepStrictEqual([statuses, fleet.events.length], [[403, 403, 403, 403], before]);
  });

  it('answers discovery of OAuth with a JSON 404', async () => {
    const answers = await Promise.all(
      [
        '/.well-known/oauth-protected-resource',
        '/.well-known/oauth-protected-resource/mcp/bowline-self',
        '/.well-known/oauth-authorization-server/mcp/bowline-self',
        '/mcp/bowline-self/.well-known/openid-configuration',
        '/register',
      ].map((path) => wire(host.port, { method: 'GET', path, headers: {} })),
    );
    assert.deepStrictEqual(
      answers.map(({ status, headers, json }) => [status, headers['content-type'], typeof json]),
      answers.map(() => [404, 'application/json', 'object']),
    );
  });
});
