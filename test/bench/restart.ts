import { connect } from 'node:net';
import { delay } from '../../src/base/async.ts';
import { call } from '../harness/gatewayRig.ts';
import { kill } from '../harness/holderRig.ts';
import { bareStart, bundleBareServer } from './bareServer.ts';
import { BoundFleet } from './boundFleet.ts';
import { type Figure, median } from './figure.ts';

const rounds = 7;
/** The holder restarts at once only a gateway that has lived for 5 s. */
const lifeMs = 5_500;

/** The gateway is killed with -9 while 50 agents are in its state: time to the next answer. */
export const restart: Figure = {
  name: 'restart',
  measure: async () => {
    const bare = await bundleBareServer();
    const fleet = await BoundFleet.open();
    const times: number[] = [];
    const references: number[] = [];
    let refused = 0;
    try {
      await fleet.disconnect();
      for (let round = 0; round < rounds; round += 1) {
        await delay(lifeMs);
        references.push(await bareStart(bare.file));
        const endpoint = await fleet.rig.up();
        const started = performance.now();
        kill(endpoint.gateway.pid, 'SIGKILL');
        const dials = dialEvery(20, endpoint.port);
        const { status } = await call(endpoint, 'GET', '/agents');
        times.push(performance.now() - started);
        if (status !== 200) throw new Error(`GET /agents: ${status}`);
        await fleet.rig.up({ not: endpoint });
        refused += await dials.end();
      }
    } finally {
      await fleet.dispose();
      await bare.dispose();
    }
    return [
      {
        name: 'restart: kill -9 to the next answer',
        value: median(times),
        unit: 'ms',
        reference: median(references),
        goal: 2.5,
        remark: `worst ${Math.round(Math.max(...times))} ms, ${refused} refused connections`,
        failed: refused > 0,
      },
    ];
  },
};

/** Dials the port again and again; `end` resolves with how many dials were refused. */
function dialEvery(milliseconds: number, port: number): { end(): Promise<number> } {
  let refused = 0;
  const timer = setInterval(() => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.destroy());
    socket.once('error', () => (refused += 1));
  }, milliseconds);
  return {
    end: async () => {
      clearInterval(timer);
      await delay(100);
      return refused;
    },
  };
}
