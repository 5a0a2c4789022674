import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { writeEndpointFile } from '../../../src/node/endpointFile.ts';
import { processIdentity } from '../../../src/node/processIdentity.ts';
import { bundleGatewayPrograms, type GatewayPrograms, GatewayRig, runHookLine } from '../../harness/gatewayRig.ts';

/** The hook program alone: whatever happens, it ends with 0 within a second and prints nothing. */
describe('hook program', function () {
  this.timeout(60_000);
  let programs: GatewayPrograms;
  let rig: GatewayRig;
  let server: Server | undefined;
  before(async () => {
    programs = await bundleGatewayPrograms();
  });
  after(() => {
    programs.dispose();
  });
  beforeEach(() => {
    rig = new GatewayRig(programs);
    mkdirSync(rig.paths.logs);
    mkdirSync(rig.paths.agent('ada').directory, { recursive: true });
    writeFileSync(rig.paths.agent('ada').key, `${'k'.repeat(43)}\n`);
  });
  afterEach(async () => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
    await rig.dispose();
  });

  const payload = JSON.stringify({ hook_event_name: 'Stop', session_id: 's1', transcript_path: '/t', cwd: '/' });
  const run = (line: string, text: string): ReturnType<typeof runHookLine> =>
    runHookLine(`'${process.execPath}' ${line}`, text, { BOWLINE_HOME: rig.paths.directory });
  const hook = (text = payload, words = 'ada launch-1'): ReturnType<typeof runHookLine> =>
    run(`'${programs.directory}/hook.js' ${words}`, text);
  const spooled = (): string[] =>
    existsSync(rig.paths.spool) ? readdirSync(rig.paths.spool).filter((name) => name.startsWith('ada-')) : [];

  /** A program on the port of the endpoint file that answers as told, or never. */
  async function stranger(answer: { status: number; body: string } | 'nothing'): Promise<() => number> {
    let requests = 0;
    server = createServer((_request, response) => {
      requests++;
      if (answer === 'nothing') return;
      response.writeHead(answer.status).end(answer.body);
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const identity = await processIdentity(process.pid);
    assert.ok(typeof address === 'object' && address && identity);
    await writeEndpointFile(rig.paths, {
      protocol: 1,
      port: address.port,
      token: 't'.repeat(43),
      gateway: { ...identity, instance: 'x' },
      holder: { instance: 'x' },
      startedAt: 1,
      version: 'x',
    });
    return () => requests;
  }

  it('keeps a report that nobody takes, whatever a stranger on the port says', async () => {
    const told: unknown[] = [];
    for (const answer of [
      { status: 200, body: '' },
      { status: 404, body: '<html>' },
      { status: 503, body: '{"error":{"code":"x"}}' },
    ]) {
      await stranger(answer);
      const { code, stdout } = await hook();
      told.push([code, stdout, spooled().length]);
      server?.close();
    }
    assert.deepStrictEqual(told, [
      [0, '', 1],
      [0, '', 2],
      [0, '', 3],
    ]);
  });

  it('keeps the report when nobody answers, and ends within a second', async () => {
    const requests = await stranger('nothing');
    const [bare, again] = [await run('-e 0', ''), await run('-e 0', '')];
    const { code, stdout, milliseconds } = await hook();
    assert.deepStrictEqual(
      { code, stdout, spooled: spooled().length, requests: requests() },
      { code: 0, stdout: '', spooled: 1, requests: 1 },
    );
    // On a busy machine Node itself takes long to start.
    const limit = 1_000 + 2 * Math.max(bare.milliseconds, again.milliseconds);
    assert.ok(milliseconds < limit, `${Math.round(milliseconds)} ms, the limit is ${Math.round(limit)}`);
  });

  it('keeps the report of a payload that comes late', async () => {
    const late = `(sleep 0.9; cat) | '${process.execPath}' '${programs.directory}/hook.js' ada launch-1`;
    const { code, stdout } = await runHookLine(late, payload, { BOWLINE_HOME: rig.paths.directory });
    assert.deepStrictEqual([code, stdout, spooled().length], [0, '', 1]);
  });

  it('drops a report that the gateway refuses for good, and logs it', async () => {
    await stranger({ status: 404, body: '{"error":{"code":"unknown-route","sentence":"x"}}' });
    const { code } = await hook();
    const log = readFileSync(rig.paths.log('hook'), 'utf8');
    assert.deepStrictEqual([code, spooled(), /refused a report.*status 404/.test(log)], [0, [], true]);
  });

  it('keeps the report where there is no endpoint file and no key', async () => {
    await hook();
    await hook(payload, 'ada-2 launch-1');
    assert.equal(spooled().length, 2);
    const [file = ''] = spooled();
    assert.match(
      readFileSync(join(rig.paths.spool, file), 'utf8'),
      /^\{"at":\d+,"launchId":"launch-1","id":"[\w-]+","hook":\{"event":"Stop"/,
    );
  });

  for (const [what, text, words] of [
    ['no JSON', 'not JSON', 'ada launch-1'],
    ['nothing', '', 'ada launch-1'],
    ['no session', '{"hook_event_name":"Stop"}', 'ada launch-1'],
    ['too much', 'x'.repeat(9_000_000), 'ada launch-1'],
    ['no launch', payload, 'ada'],
    ['a bad name', payload, "'../ada' launch-1"],
  ] as const) {
    it(`ends quietly, with a line in the log: ${what}`, async () => {
      const { code, stdout } = await hook(text, words);
      const log = readFileSync(rig.paths.log('hook'), 'utf8');
      assert.deepStrictEqual(
        {
          code,
          stdout,
          spooled: spooled(),
          lines: log.split('\n').filter(Boolean).length,
          quoted: log.includes('not JSON"x'),
        },
        { code: 0, stdout: '', spooled: [], lines: 1, quoted: false },
      );
    });
  }
});
