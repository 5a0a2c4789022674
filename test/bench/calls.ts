import { callAtOnce, CallClient, callInTurn } from './callClient.ts';
import { type Figure, median, type Reading } from './figure.ts';
import { bundled, PortProgram } from './portProgram.ts';
import { ServedFleet } from './servedFleet.ts';

/** Agents of the fleet; each is one of the clients that call at once. */
const parallel = 64;
/** Rounds of calls in turn, and how many each way has in one. */
const turns = { rounds: 25, calls: 60 } as const;
/** Rounds of calls at once, and how many each client makes in one. */
const crowds = { rounds: 9, calls: 40 } as const;

/**
 * `tools/call` through the gateway to an upstream over HTTP, by turns with the same calls past it: by one client to a
 * server of the SDK, and by 64 at once to one that takes next to no time, where a bare pass-through is beside it.
 */
export const calls: Figure = {
  name: 'calls',
  measure: async () => {
    const program = await bundled({
      sdkServer: 'test/bench/sdkServerMain.ts',
      quickServer: 'test/bench/quickServerMain.ts',
      passThrough: 'test/bench/passThroughMain.ts',
    });
    const sdk = await PortProgram.start(program('sdkServer'));
    const quick = await PortProgram.start(program('quickServer'));
    const passThrough = await PortProgram.start(program('passThrough'), [String(quick.port)]);
    const mcpServers = {
      sdk: { type: 'http', url: `http://127.0.0.1:${sdk.port}/mcp` },
      quick: { type: 'http', url: `http://127.0.0.1:${quick.port}/mcp` },
    };
    const fleet = await ServedFleet.open({ size: parallel, mcpServers });
    try {
      return [await added(fleet, sdk), await atOnce(fleet, quick, passThrough)];
    } finally {
      await fleet.dispose();
      for (const one of [passThrough, quick, sdk]) await one.dispose();
    }
  },
};

async function added(fleet: ServedFleet, sdk: PortProgram): Promise<Reading> {
  const [agent] = fleet.agents;
  if (agent === undefined) throw new Error('no agent');
  const through = await CallClient.connect(fleet.target(agent, 'sdk'));
  const direct = await CallClient.connect({ port: sdk.port, path: '/mcp' });
  const differences: number[] = [];
  const directs: number[] = [];
  for (const client of [through, direct]) await callInTurn(client, 500);
  for (let round = 0; round < turns.rounds; round += 1) {
    const past = median(await callInTurn(direct, turns.calls));
    directs.push(past);
    differences.push(median(await callInTurn(through, turns.calls)) - past);
  }
  for (const client of [through, direct]) client.close();
  return {
    ...{ name: 'calls: added to tools/call, p50', value: median(differences), unit: 'ms', goal: 0.3 },
    remark: `direct ${median(directs).toFixed(2)} ms, 1 client, HTTP`,
  };
}

async function atOnce(fleet: ServedFleet, quick: PortProgram, passThrough: PortProgram): Promise<Reading> {
  const connected = (targets: readonly Parameters<typeof CallClient.connect>[0][]): Promise<CallClient[]> =>
    Promise.all(targets.map((target) => CallClient.connect(target)));
  const past = (port: number): { port: number; path: string }[] => fleet.agents.map(() => ({ port, path: '/mcp' }));
  const ways = {
    gateway: await connected(fleet.agents.map((agent) => fleet.target(agent, 'quick'))),
    passThrough: await connected(past(passThrough.port)),
    direct: await connected(past(quick.port)),
  };
  const rates: Record<keyof typeof ways, number[]> = { gateway: [], passThrough: [], direct: [] };
  for (const clients of Object.values(ways)) await callAtOnce(clients, crowds.calls);
  for (let round = 0; round < crowds.rounds; round += 1) {
    for (const way of ['gateway', 'passThrough', 'direct'] as const) {
      rates[way].push(await callAtOnce(ways[way], crowds.calls));
    }
  }
  for (const client of Object.values(ways).flat()) client.close();
  const reference = median(rates.passThrough);
  return {
    ...{ name: `calls: per second, ${parallel} at once`, value: median(rates.gateway), unit: '/s', reference },
    ...{ goal: 0.85, better: 'more' },
    remark: `beside a bare pass-through; that has ${((reference * 100) / median(rates.direct)).toFixed(0)} % of direct`,
  };
}
