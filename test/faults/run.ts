// `npm run faults [-- WORDS...]`: kills the gateway, the window with the hands and the tmux server at every step of every
// operation (or at the points whose names hold one of the words), and tells for each whether all came back. Agents are stand-ins.
import { type FaultFleet as Fleet, bundleFaultPrograms, FaultFleet, type FaultPrograms } from './faultFleet.ts';
import { findPoints, nameOfPoint, type Point, runPoint } from './faultRun.ts';
import { type Operation, operationGroups } from './operations.ts';

/** A point whose step did not come is tried again so often: what runs side by side comes in another order at times. */
const triesAtMost = 4;

/** Fleets that are to be ended with this process. */
const open = new Set<Fleet>();

interface Tally {
  passed: number;
  failed: number;
}

interface Session {
  readonly programs: FaultPrograms;
  readonly words: readonly string[];
  readonly tally: Tally;
}

async function main(): Promise<void> {
  const words = process.argv.length > 2 ? process.argv.slice(2) : [''];
  const groups = operationGroups.map((group) => {
    return group.filter(({ name }) => words.some((one) => `${name}: `.includes(one) || one.startsWith(`${name}: `)));
  });
  const queue = groups.filter((group) => group.length > 0);
  const started = performance.now();
  const tally: Tally = { passed: 0, failed: 0 };
  const programs = await bundleFaultPrograms();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      const all = [...open].map((fleet) => fleet.dispose());
      void Promise.allSettled([...all, programs.dispose()]).then(() => process.exit(130));
    });
  }
  try {
    const lane = async (): Promise<void> => {
      for (let group = queue.shift(); group !== undefined; group = queue.shift())
        await runGroup({ programs, words, tally }, group);
    };
    await Promise.all([lane(), lane(), lane()]);
  } finally {
    await programs.dispose();
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${tally.passed + tally.failed} points in ${seconds} s, each with one kill`);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  if (tally.failed > 0) process.exitCode = 1;
}

/** The points of the operations in turn: the end of one is where the next one begins. */
async function runGroup({ programs, words, tally }: Session, group: readonly Operation[]): Promise<void> {
  let fleet = await openFleet(programs);
  try {
    const lists: Point[][] = [];
    for (const operation of group) {
      const isAsked = (point: Point): boolean => words.some((one) => nameOfPoint(point).includes(one));
      lists.push((await findPoints(fleet, operation)).filter(isAsked));
    }
    for (let isLeft = true; isLeft;) {
      isLeft = false;
      for (const list of lists) {
        const point = list.shift();
        if (point === undefined) continue;
        isLeft = true;
        const isGood = await judged(fleet, point, tally);
        if (isGood) continue;
        // The next point is to begin with a fleet in which nothing is wrong.
        await close(fleet);
        fleet = await openFleet(programs);
      }
    }
  } catch (error) {
    tally.failed += 1;
    console.log(`FAILED ${group.map(({ name }) => name).join(', ')}: ${String(error)}`);
  } finally {
    await close(fleet);
  }
}

async function openFleet(programs: FaultPrograms): Promise<Fleet> {
  const fleet = await FaultFleet.open(programs);
  open.add(fleet);
  return fleet;
}

async function close(fleet: Fleet): Promise<void> {
  await fleet.dispose();
  open.delete(fleet);
}

async function judged(fleet: Fleet, point: Point, tally: Tally): Promise<boolean> {
  const started = performance.now();
  const faults = await faultsAt(fleet, point);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (faults.length === 0) tally.passed += 1;
  else tally.failed += 1;
  console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'} ${nameOfPoint(point)} ${seconds} s`);
  for (const fault of faults) console.log(`       ${fault}`);
  return faults.length === 0;
}

async function faultsAt(fleet: Fleet, point: Point): Promise<readonly string[]> {
  try {
    for (let tries = 0; tries < triesAtMost; tries += 1) {
      const outcome = await runPoint(fleet, point);
      if (outcome.kind === 'met') return outcome.faults;
    }
    return ['its step did not come: nothing was killed'];
  } catch (error) {
    return [String(error)];
  }
}

void main();
