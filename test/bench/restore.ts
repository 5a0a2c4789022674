import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { isSameProcess, processIdentity } from '../../src/node/processIdentity.ts';
import { FleetRig } from '../harness/fleetRig.ts';
import { waitFor } from '../harness/waitFor.ts';
import { type Figure, median } from './figure.ts';
import { HandClaudes } from './handClaudes.ts';

const version = '2.1.332';
const rounds = 5;
/** So many are started at a time, by Bowline's own limit and by hand. */
const atOnce = 3;
const names = Array.from({ length: 10 }, (_, index) => `agent-${index}`);
const patience = { timeoutMs: 180_000, everyMs: 10 };

/**
 * Ten agents whose tmux server was killed: from Restore All until the last one is verified, beside the same ten
 * conversations resumed by hand, as many at a time, until each has asked its MCP server for the tools. By turns, and after
 * one turn each that does not count.
 */
export const restore: Figure = {
  name: 'restore',
  measure: async () => {
    const rig = await FleetRig.open({ version, trusted: ['work'] });
    let hand: HandClaudes | undefined;
    const times: number[] = [];
    const references: number[] = [];
    try {
      await work(rig);
      hand = await HandClaudes.beside(rig, version);
      for (let round = 0; round <= rounds; round += 1) {
        await killTmux(rig);
        const reference = await resumeByHand(rig, hand, round);
        const time = await restoreAll(rig);
        if (round === 0) continue;
        references.push(reference);
        times.push(time);
      }
    } finally {
      await hand?.dispose();
      await rig.dispose();
    }
    return [
      {
        name: `restore of ${names.length}, claude ${version}`,
        value: median(times),
        unit: 'ms',
        reference: median(references),
        goal: 1.15,
        remark: `worst ${Math.round(Math.max(...times))} ms, by hand ${Math.round(Math.max(...references))} ms`,
      },
    ];
  },
};

/** Creates the agents; each has said something in a conversation of its own. */
async function work(rig: FleetRig): Promise<void> {
  for (const name of names) {
    await rig.create(name, 'work');
    await rig.request({ kind: 'prompt', name, id: randomUUID(), text: `I am ${name}` });
  }
  for (const name of names) {
    await rig.until(name, 'idle after a turn', (row, { session, activity }) => {
      return row.life === 'ready' && (session?.turnsCompleted ?? 0) > 0 && activity.kind === 'idle';
    });
  }
}

/** Kills the tmux server with -9; resolves when nothing of the agents lives any more. */
async function killTmux(rig: FleetRig): Promise<void> {
  const pids = names.flatMap((name) => {
    const { life } = rig.agent(name);
    return life.kind === 'running' ? life.running.process.pid : [];
  });
  const identities = (await Promise.all(pids.map(processIdentity))).filter((identity) => identity !== undefined);
  process.kill(Number(await rig.tmux('display-message', '-p', '#{pid}')), 'SIGKILL');
  for (const name of names) await rig.until(name, 'stopped', ({ life }) => life === 'stopped');
  for (const identity of identities) {
    await waitFor('the end of an agent', async () => (await isSameProcess(identity)) === 'gone', patience);
  }
}

/** Milliseconds until all have asked for their tools; they are ended after it. */
async function resumeByHand(rig: FleetRig, hand: HandClaudes, round: number): Promise<number> {
  const started = performance.now();
  const open = names.map((name) => ({ name: `${name}-${round}`, resume: rig.agent(name).session?.id ?? '' }));
  const pids = new Map<string, number>();
  const worker = async (): Promise<void> => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      pids.set(next.name, await hand.start(next.name, path.join(rig.root, 'work'), { resume: next.resume }));
      await hand.untilListed(next.name);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const time = performance.now() - started;
  for (const [name, pid] of pids) await hand.end(name, pid);
  return time;
}

/** Milliseconds until all are verified. */
async function restoreAll(rig: FleetRig): Promise<number> {
  const former = rig.state.restoration?.id;
  const started = performance.now();
  await rig.request({ kind: 'restore all' });
  await waitFor(
    'the end of the restore',
    () => rig.state.restoration?.id !== former && rig.state.restoration?.ended !== undefined,
    patience,
  );
  const time = performance.now() - started;
  const notBack = names.filter((name) => rig.row(name).life !== 'ready');
  if (notBack.length > 0) throw new Error(`not restored: ${JSON.stringify(notBack.map((name) => rig.row(name)))}`);
  return time;
}
