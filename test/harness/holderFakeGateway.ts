/**
 * A fake gateway, for faults that the real one cannot be made to have. It answers on descriptor 3, sends heartbeats and
 * publishes an endpoint file. `<state>/fake-gateway` may hold words that change it: `deaf` (ignores SIGTERM and a lost
 * holder), `crash` (ends at once with 7), `slow` (listens only after 400 ms), `unpublished` (writes no endpoint file).
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { processIdentity } from '../../src/node/processIdentity.ts';
import { statePaths } from '../../src/node/statePaths.ts';
import type { Endpoint } from '../../src/protocol/endpointFile.ts';

/** What the fake answers to any request. */
export interface FakeAnswer {
  readonly pid: number;
  readonly holder: string;
  readonly lastExit?: string | undefined;
  readonly portTaken?: string | undefined;
  /** A process that the fake started, after a request for `/spawn`. */
  readonly started?: number | undefined;
}

const home = process.env['BOWLINE_HOME'] ?? '';
const wordsFile = join(home, 'fake-gateway');
const words = existsSync(wordsFile) ? readFileSync(wordsFile, 'utf8').split(' ') : [];
appendFileSync(join(home, 'fake-gateway.starts'), `${process.pid}\n`);

if (words.includes('crash')) {
  console.error('fake gateway: crashing as told');
  process.exit(7);
}
if (words.includes('deaf')) {
  process.on('SIGTERM', () => undefined);
} else {
  process.on('SIGTERM', () => process.exit(0));
  process.on('disconnect', () => process.exit(3));
}
process.send?.({ kind: 'heartbeat' });
setInterval(() => {
  if (process.connected) process.send?.({ kind: 'heartbeat' });
}, 100);

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (url.pathname === '/exit') process.exit(Number(url.searchParams.get('code')));
  const started = url.pathname === '/spawn' ? spawn('sleep', ['60'], { stdio: 'ignore' }).pid : undefined;
  const { BOWLINE_HOLDER: holder = '', BOWLINE_LAST_EXIT: lastExit, BOWLINE_PORT_TAKEN: portTaken } = process.env;
  response.end(JSON.stringify({ pid: process.pid, holder, lastExit, portTaken, started }));
});
setTimeout(() => server.listen({ fd: 3 }, () => void publish()), words.includes('slow') ? 400 : 0);

async function publish(): Promise<void> {
  const address = server.address();
  const identity = await processIdentity(process.pid);
  if (words.includes('unpublished') || typeof address !== 'object' || !address || !identity) return;
  const endpoint: Endpoint = {
    protocol: 1,
    port: address.port,
    token: 'fake'.repeat(12),
    gateway: { ...identity, instance: `fake-${process.pid}` },
    holder: { instance: process.env['BOWLINE_HOLDER'] ?? '' },
    startedAt: Date.now(),
    version: '0.0.0-fake',
  };
  // Not by writeEndpointFile: schemas would double the time of each start.
  const path = statePaths(home).endpoint;
  writeFileSync(`${path}.${process.pid}`, JSON.stringify(endpoint), { mode: 0o600 });
  renameSync(`${path}.${process.pid}`, path);
}
