import { deepStrictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { agentRunning, epochStarted, MemoryFleet } from '../../harness/mcpFleet.ts';
import { startMcpHost } from '../../harness/mcpHost.ts';
import { WireClient } from '../../harness/mcpWire.ts';

const run = promisify(execFile);

/** A client in a process of its own: what keeps this one busy is no silence of the stream. */
const client = `
const [url, headers] = process.argv.slice(1);
const response = await fetch(url, { headers: JSON.parse(headers) });
let last = performance.now();
let longest = 0;
const tell = (end) => {
  longest = Math.max(longest, performance.now() - last);
  last = performance.now();
  if (end === undefined) return;
  console.log(JSON.stringify({ end, status: response.status, longest }));
  process.exit();
};
setTimeout(() => tell('open'), 70_000);
for await (const _chunk of response.body) tell();
tell('ended');
`;

const watchSchema = z.object({ end: z.enum(['open', 'ended']), status: z.int(), longest: z.number() });

const ended = new AbortController();

/** Opens a stream and does nothing with it for 70 s. */
async function watch(): Promise<z.infer<typeof watchSchema>> {
  const directory = await mkdtemp(join(tmpdir(), 'bowline-mcp-'));
  const fleet = new MemoryFleet();
  const now = 1_700_000_000_000;
  for (const event of [epochStarted('e1', now), ...agentRunning('ada', now)]) fleet.report(event);
  const host = await startMcpHost({ directory, fleet, clock: () => now });
  try {
    const session = await WireClient.initialize(host.port, 'ada');
    const url = `http://127.0.0.1:${host.port}/mcp/bowline-self`;
    const headers = JSON.stringify({ ...session.headers(), accept: 'text/event-stream' });
    const argv = ['--input-type=module', '-e', client, url, headers];
    const { stdout } = await run(process.execPath, argv, { signal: ended.signal });
    return watchSchema.parse(JSON.parse(stdout));
  } finally {
    await host.kill();
    await rm(directory, { recursive: true });
  }
}

let watching: Promise<z.infer<typeof watchSchema> | Error>;

// Begins with the first test of the run: the others go on meanwhile.
before(() => {
  watching = watch().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
});

after(async () => {
  ended.abort();
  await watching;
});

describe('an idle stream', () => {
  it('stays open for 70 s, and is never silent for 25 s', async () => {
    const seen = await watching;
    if (seen instanceof Error) throw seen;
    deepStrictEqual([seen.end, seen.status, seen.longest < 25_000], ['open', 200, true]);
  }).timeout(120_000);
});
