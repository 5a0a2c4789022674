import { delay } from '../../src/base/async.ts';
import { silentLog } from '../../src/base/log.ts';
import { GatewayClient } from '../../src/extension/gatewayClient.ts';
import { kill } from '../harness/holderRig.ts';
import { waitFor } from '../harness/waitFor.ts';
import { BoundFleet } from './boundFleet.ts';
import { type Figure, median } from './figure.ts';

const rounds = 5;
/** The holder restarts at once only a gateway that has lived for 5 s; the second part lets a hang begin at any time. */
const lifeMs = (round: number): number => 5_500 + 1_000 * round;

/** How long a window believes in a gateway that is dead, or that hangs. */
export const noticed: Figure = {
  name: 'noticed',
  measure: async () => {
    const fleet = await BoundFleet.open();
    const client = new GatewayClient({
      paths: fleet.rig.paths,
      log: silentLog,
      window: 'bench-client',
      hands: () => 'not offered',
      ensure: () => fleet.rig.up(),
    });
    const after = async (signal: 'SIGKILL' | 'SIGSTOP', round: number): Promise<number> => {
      await delay(lifeMs(round));
      await client.whenConnected(30_000);
      const endpoint = await fleet.rig.up();
      const away = new Promise<number>((resolve) => {
        const listener = client.onDidChange(() => {
          if (client.connection.kind === 'connected') return;
          listener.dispose();
          resolve(performance.now());
        });
      });
      const started = performance.now();
      kill(endpoint.gateway.pid, signal);
      const time = (await away) - started;
      await fleet.rig.up({ not: endpoint });
      await waitFor('the window to be back', () => client.connection.kind === 'connected', { timeoutMs: 30_000 });
      return time;
    };
    try {
      await fleet.disconnect();
      const deaths: number[] = [];
      const hangs: number[] = [];
      for (let round = 0; round < rounds; round += 1) deaths.push(await after('SIGKILL', round));
      for (let round = 0; round < rounds; round += 1) hangs.push(await after('SIGSTOP', round));
      const worst = (times: readonly number[]): string => `worst ${Math.max(...times).toFixed(1)}`;
      return [
        { name: 'noticed: death', value: median(deaths), unit: 'ms', goal: 100, remark: worst(deaths) },
        { name: 'noticed: hang', value: median(hangs) / 1000, unit: 's', goal: 10, remark: `${worst(hangs)} ms` },
      ];
    } finally {
      client.dispose();
      await fleet.dispose();
    }
  },
};
