import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import * as z from 'zod/mini';
import { waitFor } from '../harness/waitFor.ts';
import { installOtherProxies, repository } from '../host/setup.mjs';
import { callAtOnce, CallClient, callInTurn, type Target } from './callClient.ts';
import { type Figure, median, percentile, type Reading } from './figure.ts';
import { bundled } from './portProgram.ts';
import { ServedFleet } from './servedFleet.ts';

const parallel = 64;
const rounds = 9;
/** In one round: calls in turn, and how many each of the clients makes that call at once. */
const calls = { inTurn: 300, atOnce: 25 } as const;

/** What other proxies are started with, to bring the server `program` to `port`. Neither writes a log. */
const others = {
  'mcp-proxy': (program: string, port: number) => [
    ...['--host', '127.0.0.1', '--port', String(port), '--server', 'stream', '--', process.execPath, program],
  ],
  supergateway: (program: string, port: number) => [
    ...['--stdio', `'${process.execPath}' '${program}'`, '--outputTransport', 'streamableHttp', '--stateful'],
    ...['--port', String(port), '--logLevel', 'none'],
  ],
} as const;

type Other = keyof typeof others;

/** What was taken of one proxy, one number a round. */
interface Taken {
  readonly p50: number[];
  readonly p99: number[];
  readonly perSecond: number[];
}

/** The gateway beside other proxies, by turns: each before a stdio server of the SDK, with the same clients. */
export const proxies: Figure = {
  name: 'proxies',
  measure: async () => {
    installOtherProxies();
    const program = (await bundled({ server: 'test/harness/upstreams/sdkStdioMain.ts' }))('server');
    const stdio = { command: process.execPath, args: [program] };
    const fleet = await ServedFleet.open({ size: 1, mcpServers: { stdio } });
    const started: ChildProcess[] = [];
    try {
      const targets = new Map<Other | 'gateway', Target>();
      for (const agent of fleet.agents) targets.set('gateway', fleet.target(agent, 'stdio'));
      for (const other of ['mcp-proxy', 'supergateway'] as const) {
        const port = await freePort();
        started.push(spawn(process.execPath, [binaryOf(other), ...others[other](program, port)], { stdio: 'ignore' }));
        targets.set(other, { port, path: '/mcp' });
      }
      return readings(await measureAll(targets));
    } finally {
      for (const child of started) {
        const ended = once(child, 'exit');
        if (child.kill('SIGTERM')) await ended;
      }
      await fleet.dispose();
    }
  },
};

async function measureAll(targets: ReadonlyMap<Other | 'gateway', Target>): Promise<Record<Other | 'gateway', Taken>> {
  const taken = { gateway: nothing(), 'mcp-proxy': nothing(), supergateway: nothing() };
  const clients = new Map<Other | 'gateway', readonly CallClient[]>();
  for (const [name, target] of targets) {
    const client = await waitFor(`an answer of ${name}`, () => CallClient.connect(target), { timeoutMs: 30_000 });
    const others = Array.from({ length: parallel - 1 }, (_, index) => client.beside(index + 1));
    clients.set(name, [client, ...others]);
    await callAtOnce([client, ...others], calls.atOnce);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, [client, ...others]] of clients) {
      if (client === undefined) continue;
      const times = await callInTurn(client, calls.inTurn);
      taken[name].p50.push(median(times));
      taken[name].p99.push(percentile(times, 0.99));
      taken[name].perSecond.push(await callAtOnce([client, ...others], calls.atOnce));
    }
  }
  for (const client of [...clients.values()].flat()) client.close();
  return taken;
}

function readings(taken: Readonly<Record<Other | 'gateway', Taken>>): readonly Reading[] {
  const reading = (what: keyof Taken, words: string, unit: string, digits: number): Reading => {
    const value = median(taken.gateway[what]);
    const beside = (['mcp-proxy', 'supergateway'] as const).map((name) => ({ name, value: median(taken[name][what]) }));
    const all = beside.map((one) => one.value);
    const remark = beside.map((one) => `${one.name} ${one.value.toFixed(digits)}`).join(', ');
    const better = what === 'perSecond' ? ({ better: 'more' } as const) : {};
    const reference = what === 'perSecond' ? Math.max(...all) : Math.min(...all);
    return { name: `proxies: ${words}`, value, unit, reference, goal: 1, remark, ...better };
  };
  return [
    reading('p50', 'tools/call to stdio, p50', 'ms', 2),
    reading('p99', 'tools/call to stdio, p99', 'ms', 2),
    reading('perSecond', `per second, ${parallel} at once`, '/s', 0),
  ];
}

function nothing(): Taken {
  return { p50: [], p99: [], perSecond: [] };
}

const packageSchema = z.object({ bin: z.union([z.string(), z.record(z.string(), z.string())]) });

function binaryOf(name: Other): string {
  const directory = path.join(repository, 'test/bench/others/node_modules', name);
  const { bin } = packageSchema.parse(JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')));
  return path.join(directory, typeof bin === 'string' ? bin : (bin[name] ?? ''));
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
