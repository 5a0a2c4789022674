// `npm run chaos -- SECONDS [-- SEED]`: 50 real MCP clients call tools through the built gateway, while servers, clients and
// the gateway are killed in the order of the seed. Exits 1 when something was answered wrongly, done twice, hung, lost its
// session or is left over; 2 for arguments that it does not know. Linux only: it looks into /proc.
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayRig } from '../harness/gatewayRig.ts';
import { privateRun } from '../harness/privateRun.ts';
import { waitFor } from '../harness/waitFor.ts';
import { judge, type Report } from './calls.ts';
import { ChaosWorld } from './chaosWorld.ts';
import { killsOf } from './schedule.ts';

const clientCount = 50;

/** So many faults are told in words. */
const shownFaults = 40;

async function main(words: readonly string[]): Promise<number> {
  const [seconds = NaN, seed = Math.floor(Math.random() * 1_000_000_000)] = words.map(Number);
  if (words.length > 2 || !(seconds > 0) || !Number.isSafeInteger(seed)) {
    console.error(
      'Say for how many seconds, and, to have the kills of a former run, its seed: npm run chaos -- 60 -- 7',
    );
    return 2;
  }
  console.log(`seed ${seed}`);
  return privateRun('chaos', () => chaos(seconds, seed));
}

async function chaos(seconds: number, seed: number): Promise<number> {
  const world = await ChaosWorld.open(await GatewayRig.bundled(), { size: clientCount, seed });
  try {
    let isOver = false;
    const running = Promise.all(world.clients.map((client) => client.run(() => isOver)));
    await waitFor('each client to have called', () => world.clients.every(({ hasCalled }) => hasCalled), {
      timeoutMs: 120_000,
    });
    const began = performance.now();
    const until = began + seconds * 1000;
    const killing = kill(world, seed, began, until).finally(() => (isOver = true));
    await Promise.all([running, killing]);
    const left = await world.end();
    const { calls, effects, kills, seen } = world;
    const report = judge({ calls, effects, kills, seen, left, began });
    tell(report);
    return report.faults.length === 0 ? 0 : 1;
  } finally {
    await world.dispose();
  }
}

async function kill(world: ChaosWorld, seed: number, began: number, until: number): Promise<void> {
  for (const { afterMs, victim } of killsOf(seed, world.victims)) {
    await delay(Math.max(0, Math.min(afterMs, until - performance.now())));
    if (performance.now() >= until) break;
    const isKilled = await world.kill(victim);
    const at = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
    const which = 'index' in victim ? ` ${victim.index + 1}` : '';
    console.log(`${at} s  ${victim.kind}${which}${isKilled ? '' : ' (is dead)'}`);
  }
  await world.calm();
}

function tell({ rows, faults }: Report): void {
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, count] of rows) console.log(`${name.padEnd(width)}  ${String(count).padStart(7)}`);
  for (const fault of faults.slice(0, shownFaults)) console.log(fault);
  if (faults.length > shownFaults) console.log(`and ${faults.length - shownFaults} more`);
}

void main(process.argv.slice(2).filter((word) => word !== '--')).then((code) => (process.exitCode = code));
