import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { currentLaunch } from '../../../src/core/fleet/agent.ts';
import { call } from '../../harness/gatewayRig.ts';
import { GatewayParts } from '../../harness/gatewayParts.ts';
import { RawHttp, statusesOf } from '../../harness/rawHttp.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('the way into the gateway', () => {
  let parts: GatewayParts;
  beforeEach(async () => {
    parts = await GatewayParts.start();
  });
  afterEach(async () => {
    await parts.dispose();
  });
  const head = (line: string, host = `127.0.0.1:${parts.port}`): string =>
    `${line} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${parts.token}\r\n`;

  it('has one spelling for each path', async () => {
    const asked = async (path: string): Promise<string> => {
      const text = await RawHttp.exchange(parts.port, `${head(`GET ${path}`)}Connection: close\r\n\r\n`);
      return [...statusesOf(text), ...(/"code":"[^"]*"/.exec(text) ?? [])].join(' ');
    };
    const tricks = [
      ...['/mcp/../agents', '/mcp/%2e%2e/agents', '/mcp/.%2E/agents', '/./agents', '/agents/.', '/mcp/..\\agents'],
      ...['\\agents', '/agents#x', 'http://127.0.0.1/agents', '*', '/mcp/\u00e9'],
    ];
    const others: Record<string, string> = {
      '/agents': '200',
      '/agents?x=../y': '200',
      '//agents': '404 "code":"unknown-route"',
      '/agents//': '404 "code":"unknown-route"',
      '/agents%2f': '404 "code":"unknown-route"',
      '/mcp//x': '404 "code":"unknown-route"',
      // One name, and nobody has it.
      '/mcp/..%2fagents': '400',
      '/agents/..%2fagents': '404 "code":"unknown-agent"',
      '/agents/ada%00': '404 "code":"unknown-agent"',
    };
    const answers = await Promise.all(tricks.map(asked));
    const found = await Promise.all(Object.keys(others).map(async (path) => [path, await asked(path)] as const));
    assert.deepStrictEqual(
      [
        Object.fromEntries(tricks.map((path, index) => [path, answers[index]?.split(' ')[0]])),
        Object.fromEntries(found),
      ],
      [Object.fromEntries(tricks.map((path) => [path, '400'])), others],
    );
  });

  it('judges host and origin before it reads anything else, also of a body without an end', async () => {
    for (const edge of ['Host: evil.example\r\n', `Host: 127.0.0.1:${parts.port}\r\nOrigin: http://evil.example\r\n`]) {
      const one = await RawHttp.connect(parts.port);
      one.socket.write(`POST /agents HTTP/1.1\r\n${edge}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`);
      await waitFor('the refusal', () => one.text.includes('-forbidden'));
      assert.deepStrictEqual(statusesOf(one.text), ['403']);
      one.socket.destroy();
    }
  });

  it('closes a connection whose upgrade it refused, also where the other end does not', async () => {
    const upgrade = 'Connection: upgrade\r\nUpgrade: websocket\r\n\r\n';
    const refused = [
      `GET /stream HTTP/1.1\r\nHost: evil.example\r\n${upgrade}`,
      `GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1:${parts.port}\r\n${upgrade}`,
      `GET /stream HTTP/1.1\r\nHost: 127.0.0.1:${parts.port}\r\nAuthorization: Bearer x\r\n${upgrade}`,
    ];
    const before = await parts.connections();
    const open = await Promise.all(refused.map(() => RawHttp.connect(parts.port, { allowHalfOpen: true })));
    for (const [index, { socket }] of open.entries()) socket.write(refused[index] ?? '');
    await waitFor('the answers', () => open.every(({ text }) => text.includes('"sentence"')));
    await waitFor('the connections to be let go', async () => (await parts.connections()) === before);
    assert.deepStrictEqual(
      open.map(({ text }) => statusesOf(text)),
      [['403'], ['404'], ['401']],
    );
    for (const { socket } of open) socket.destroy();
  });

  it('tells a script why the guard blocks, as a verdict', async () => {
    const directory = join(parts.paths.directory, 'project');
    mkdirSync(directory);
    await call(parts, 'POST', '/agents', { name: 'ada', directory });
    const ada = parts.fleet.state.agents['ada'];
    const launchId = (ada && currentLaunch(ada)?.id) ?? '';
    const at = Date.now();
    const process = { tmuxSession: '$1', pane: '%1', pid: 1 };
    parts.fleet.report({ at, kind: 'launched', name: 'ada', launchId, process });
    for (const event of ['SessionStart', 'UserPromptSubmit'] as const) {
      const hook = { event, sessionId: 's', transcriptExists: true };
      parts.fleet.report({ at: at + 1, kind: 'hook reported', name: 'ada', launchId, hook });
    }
    const blocked = await call(parts, 'POST', '/agents/ada/restart', { mode: 'resume' });
    const errorSchema = z.object({
      error: z.object({ code: z.string(), sentence: z.string(), verdict: z.record(z.string(), z.unknown()) }),
    });
    const { code, verdict } = errorSchema.parse(blocked.body).error;
    const bypass = { mode: 'resume', bypassGuard: true, reason: 'must be' };
    assert.deepStrictEqual(
      {
        ...{ status: blocked.status, code, verdict },
        bypassed: (await call(parts, 'POST', '/agents/ada/restart', bypass)).status,
        audit: parts.fleet.state.audit.flatMap((one) =>
          one.action === 'guard bypassed' ? [[one.reason, one.verdict]] : [],
        ),
      },
      {
        ...{ status: 409, code: 'guard-blocked' },
        verdict: {
          ...{ allowed: false, reason: 'turn in progress', downgraded: 'no', context: 'none', screen: 'not looked at' },
          wouldBeLost: 'The turn in progress is cut off.',
        },
        bypassed: 204,
        audit: [['must be', 'turn in progress']],
      },
    );
  });

  it('tells whoever guesses tokens or keys to wait, and nobody else', async () => {
    const guess = async (path: string, method = 'GET'): Promise<number> =>
      (await call(parts, method, path, undefined, { authorization: 'Bearer guess' })).status;
    const tokens = await Promise.all(Array.from({ length: 105 }, () => guess('/agents')));
    const keys = await Promise.all(Array.from({ length: 105 }, () => guess('/agents/ada/session', 'POST')));
    const count = (statuses: readonly number[], status: number): number =>
      statuses.filter((one) => one === status).length;
    assert.deepStrictEqual(
      [count(tokens, 401), count(tokens, 429), count(keys, 403), count(keys, 429)],
      [100, 5, 100, 5],
    );
    assert.equal((await call(parts, 'GET', '/agents')).status, 200);
    assert.ok(parts.logged.length <= 110, `${parts.logged.length} lines in the log`);
  });
});
