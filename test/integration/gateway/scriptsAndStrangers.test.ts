import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { strangersAtMost } from '../../../src/gateway/http/strangers.ts';
import { call, GatewayRig } from '../../harness/gatewayRig.ts';
import { RawHttp } from '../../harness/rawHttp.ts';
import { waitFor } from '../../harness/waitFor.ts';

const run = promisify(execFile);

describe('the gateway towards scripts and strangers', () => {
  let rig: GatewayRig;

  before(async () => {
    rig = await GatewayRig.bundled();
    await rig.start();
  });
  after(() => rig.dispose());

  it('does what the page of its API shows, as it stands there', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/admin-api.md'), 'utf8');
    const examples = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, lines]) => lines ?? '');
    const directory = rig.directory();
    const { stdout } = await run('/bin/sh', ['-eu', '-c', examples.join('echo\n')], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory, BOWLINE_HOME: rig.paths.directory },
    });
    const answers = stdout.replaceAll('}{', '}\n{').split('\n').filter(Boolean);
    assert.deepStrictEqual(
      answers.map((answer) => /^\{"\w+"/.exec(answer)?.[0]),
      ['{"product"', '{"agents"', '{"agent"', '{"id"', '{"prompts"'],
    );
  });

  it('goes on with whoever has a key under 10,000 connections that stop in the middle of their first line', async () => {
    const endpoint = await rig.up();
    const line = `Host: 127.0.0.1:${endpoint.port}\r\n`;
    const window = await RawHttp.connect(endpoint.port);
    window.socket.write(`GET /events HTTP/1.1\r\n${line}Authorization: Bearer ${endpoint.token}\r\n\r\n`);
    await waitFor('the stream', () => window.text.includes('event: snapshot'));
    const strangers: RawHttp[] = [];
    const served: number[] = [];
    for (let round = 0; round < 20; round++) {
      const more = await Promise.all(
        Array.from({ length: 500 }, async () => {
          const stranger = await RawHttp.connect(endpoint.port);
          stranger.socket.write('GET /age');
          return stranger;
        }),
      );
      strangers.push(...more);
      served.push((await call(endpoint, 'GET', '/agents')).status);
    }
    const open = await waitFor('the oldest to be closed', () => {
      const count = strangers.filter(({ closed }) => !closed).length;
      return count <= strangersAtMost && count;
    });
    served.push((await call(endpoint, 'POST', '/mcp/bowline-self', {}, {})).status);
    await waitFor('what that tells the window', () => window.text.includes('"identity fault"'));
    for (const { socket } of [window, ...strangers]) socket.destroy();
    assert.deepStrictEqual(
      { served, some: open > 500 },
      { served: [...Array.from({ length: 20 }, () => 200), 400], some: true },
    );
  });
});
