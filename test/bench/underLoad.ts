import path from 'node:path';
import { delay } from '../../src/base/async.ts';
import { type Call, judge, type Outcome } from '../chaos/calls.ts';
import { ChaosWorld } from '../chaos/chaosWorld.ts';
import { GatewayRig } from '../harness/gatewayRig.ts';
import { waitFor } from '../harness/waitFor.ts';
import { repository } from '../host/setup.mjs';
import type { Figure } from './figure.ts';

const size = 100;
const times = 5;
/** The holder restarts at once only a gateway that has lived for 5 s. */
const lifeMs = 5_500;
/** Calls of a client are that far apart at most, and may take 0.8 s. */
const settledMs = 2_000;

/**
 * 100 real MCP clients call servers of all kinds while the gateway is killed with -9, and then while the holder starts
 * newer versions of it, each five times. What is counted must not happen at all.
 */
export const underLoad: Figure = {
  name: 'load',
  measure: async () => {
    const rig = new GatewayRig({ directory: path.join(repository, 'dist'), dispose: () => undefined });
    const world = await ChaosWorld.open(rig, { size, seed: 6 });
    try {
      let isOver = false;
      const running = Promise.all(world.clients.map((client) => client.run(() => isOver)));
      await waitFor('each client to have called', () => world.clients.every(({ hasCalled }) => hasCalled), {
        timeoutMs: 120_000,
      });
      const began = performance.now();
      for (let time = 0; time < times; time += 1) {
        const endpoint = await rig.up();
        await delay(lifeMs);
        await world.kill({ kind: 'gateway' });
        await rig.up({ not: endpoint });
      }
      await delay(settledMs);
      const beganUpgrades = performance.now();
      let longest = 0;
      for (let time = 0; time < times; time += 1) {
        const from = performance.now();
        await world.upgrade();
        longest = Math.max(longest, performance.now() - from);
      }
      isOver = true;
      await running;
      const left = await world.end();
      const { calls, effects, kills, seen } = world;
      const { faults } = judge({ calls, effects, kills, seen, left, began });
      for (const fault of faults) console.log(fault);
      const ofKills = calls.filter((call) => call.began < beganUpgrades);
      const ofUpgrades = calls.filter((call) => call.began >= beganUpgrades);
      const again = world.clients.filter(({ initialised }) => initialised > 1).length;
      const lost = ofUpgrades.filter(({ outcome }) => outcome.kind !== 'answered').length;
      return [
        {
          ...counted(`load: ${times} x kill -9, ${size} clients`, faults.length + again, 'faults'),
          remark: `${told(ofKills)}, ${again} initialised again`,
        },
        {
          ...counted(`load: ${times} x upgrade, ${size} clients`, lost, 'lost'),
          remark: `${told(ofUpgrades)}, slowest ${(longest / 1000).toFixed(1)} s`,
        },
      ];
    } finally {
      await world.dispose();
    }
  },
};

function counted(
  name: string,
  value: number,
  unit: string,
): { name: string; value: number; unit: string; goal: number; failed: boolean } {
  return { name, value, unit, goal: 0, failed: value > 0 };
}

function told(calls: readonly Call[]): string {
  const ended = (kind: Outcome['kind']): number => calls.filter(({ outcome }) => outcome.kind === kind).length;
  const [cut, unknown, not] = [ended('cut'), ended('outcome unknown'), ended('not carried out')];
  return `${calls.length} calls, ${cut} cut, ${unknown} told as unknown, ${not} as not carried out`;
}
