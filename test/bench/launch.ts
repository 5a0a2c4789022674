import path from 'node:path';
import { FleetRig } from '../harness/fleetRig.ts';
import { waitFor } from '../harness/waitFor.ts';
import { type Figure, median } from './figure.ts';
import { HandClaudes } from './handClaudes.ts';

const version = '2.1.332';
const rounds = 7;
const patience = { timeoutMs: 60_000, everyMs: 5 };

/**
 * From the request to start an agent until it is bound, proven by a probe, beside the same claude started by hand in the
 * same tmux until it has asked its MCP server for the tools. Both by turns, and after one launch each that does not count.
 */
export const launch: Figure = {
  name: 'launch',
  measure: async () => {
    const rig = await FleetRig.open({ version, trusted: ['ada'] });
    let hand: HandClaudes | undefined;
    const times: number[] = [];
    const references: number[] = [];
    try {
      await launchUntilBound(rig, 'warm-up');
      hand = await HandClaudes.beside(rig, version);
      const directory = path.join(rig.root, 'ada');
      await launchByHand(hand, 'warm-up', directory);
      for (let round = 1; round <= rounds; round += 1) {
        references.push(await launchByHand(hand, `hand-${round}`, directory));
        times.push(await launchUntilBound(rig, `agent-${round}`));
      }
    } finally {
      await hand?.dispose();
      await rig.dispose();
    }
    return [
      {
        name: `launch to bound, claude ${version}`,
        value: median(times),
        unit: 'ms',
        reference: median(references),
        goal: 1.15,
        remark: `worst ${Math.round(Math.max(...times))} ms, by hand ${Math.round(Math.max(...references))} ms`,
      },
    ];
  },
};

/** Milliseconds from the command line to the first `tools/list`. */
async function launchByHand(hand: HandClaudes, name: string, directory: string): Promise<number> {
  const started = performance.now();
  const pid = await hand.start(name, directory);
  const time = (await hand.untilListed(name)) - started;
  await hand.end(name, pid);
  return time;
}

/** Milliseconds until a new agent is bound, which is then removed. */
async function launchUntilBound(rig: FleetRig, name: string): Promise<number> {
  const started = performance.now();
  await rig.create(name, 'ada');
  await waitFor(`${name} to be bound`, () => rig.row(name).worst === 'bound', patience);
  const time = performance.now() - started;
  await rig.request({ kind: 'stop', name });
  await waitFor(`${name} to be stopped`, () => rig.row(name).life === 'stopped', patience);
  await rig.request({ kind: 'remove', name });
  return time;
}
