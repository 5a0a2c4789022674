import { readFile } from 'node:fs/promises';
import { delay } from '../../src/base/async.ts';
import { startIdleNode } from './bareServer.ts';
import { BoundFleet } from './boundFleet.ts';
import { type Figure, median } from './figure.ts';

const samples = 5;

/** Holder and gateway with 50 bound agents, beside two Node processes that do nothing; Linux only. */
export const memory: Figure = {
  name: 'memory',
  measure: async () => {
    const idle = [startIdleNode(), startIdleNode()];
    const fleet = await BoundFleet.open();
    const own: number[] = [];
    const gateway: number[] = [];
    const references: number[] = [];
    try {
      const pids = fleet.rig.processes();
      if (pids.length !== 2) throw new Error(`holder and gateway are ${pids.length} processes`);
      for (let sample = 0; sample < samples; sample += 1) {
        await delay(2_000);
        own.push(await proportional(pids));
        gateway.push(await proportional([fleet.endpoint.gateway.pid]));
        references.push(await proportional(idle.map(({ pid }) => pid)));
      }
    } finally {
      await fleet.dispose();
      for (const node of idle) await node.dispose();
    }
    return [
      {
        name: 'memory: gateway and holder, 50 bound',
        value: median(own),
        unit: 'MB',
        reference: median(references),
        goal: 2,
        remark: `gateway ${Math.round(median(gateway))} MB`,
      },
    ];
  },
};

/** Proportional set size of processes in MB: shared pages count by their share (proc(5), smaps_rollup). */
export async function proportional(pids: readonly number[]): Promise<number> {
  const sizes = pids.map(async (pid) => {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1]) / 1000;
  });
  return (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0);
}
