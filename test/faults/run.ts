// `npm run faults [-- WORDS...]`: kills the gateway, the window with the hands and the tmux server at every step of every
// operation (or at the points whose names hold one of the words), and tells for each whether all came back. Agents are stand-ins.
import { type FaultFleet as Fleet, bundleFaultPrograms, FaultFleet, type FaultPrograms } from './faultFleet.ts';
import { findPoints, nameOfPoint, type Point, runPoint } from './faultRun.ts';
import { type Operation, operationGroups } from './operations.ts';
import { type Fault, isLookElsewhere, type Judged, reportOf } from './report.ts';

/** A point whose step did not come is tried again so often: what runs side by side comes in another order at times. */
const triesAtMost = 8;

/** Fleets that are to be ended with this process. */
const open = new Set<Fleet>();

/** Aborted when the process is told to end: no fleet is opened any more. */
const ending = new AbortController();

interface Session {
  readonly programs: FaultPrograms;
  readonly words: readonly string[];
  readonly judged: Judged[];
}

async function main(): Promise<void> {
  const words = process.argv.length > 2 ? process.argv.slice(2) : [''];
  const groups = operationGroups.map((group) => {
    return group.filter(({ name }) => words.some((one) => `${name}: `.includes(one) || one.startsWith(`${name}: `)));
  });
  const queue = groups.filter((group) => group.length > 0);
  const started = performance.now();
  const judged: Judged[] = [];
  const programs = await bundleFaultPrograms();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      ending.abort();
      const all = [...open].map((fleet) => fleet.dispose());
      void Promise.allSettled([...all, programs.dispose()]).then(() => process.exit(130));
    });
  }
  try {
    const lane = async (): Promise<void> => {
      for (let group = queue.shift(); group !== undefined; group = queue.shift())
        await runGroup({ programs, words, judged }, group);
    };
    await Promise.all([lane(), lane(), lane()]);
  } finally {
    await programs.dispose();
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  for (const line of reportOf(judged, seconds)) console.log(line);
  const isBad = (point: Judged): boolean => point.faults.length > 0 && !isLookElsewhere(point, judged);
  if (judged.length === 0 || judged.some(isBad)) process.exitCode = 1;
}

/** The points of the operations in turn: the end of one is where the next one begins. */
async function runGroup({ programs, words, judged }: Session, group: readonly Operation[]): Promise<void> {
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
        const isGood = await judge(fleet, point, judged);
        if (isGood) continue;
        // The next point is to begin with a fleet in which nothing is wrong.
        await close(fleet);
        fleet = await openFleet(programs);
      }
    }
  } catch (error) {
    judged.push(
      ...group.map(
        ({ name }) => ({ operation: name, victim: 'gateway', label: '', faults: [`other: ${String(error)}`] }) as const,
      ),
    );
    console.log(`FAILED ${group.map(({ name }) => name).join(', ')}: ${String(error)}`);
  } finally {
    await close(fleet);
  }
}

async function openFleet(programs: FaultPrograms): Promise<Fleet> {
  ending.signal.throwIfAborted();
  const fleet = await FaultFleet.open(programs);
  open.add(fleet);
  return fleet;
}

async function close(fleet: Fleet): Promise<void> {
  await fleet.dispose();
  open.delete(fleet);
}

async function judge(fleet: Fleet, point: Point, judged: Judged[]): Promise<boolean> {
  const started = performance.now();
  const faults = await faultsAt(fleet, point);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  judged.push({ operation: point.operation.name, victim: point.victim, label: point.label, faults });
  console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'} ${nameOfPoint(point)} ${seconds} s`);
  for (const fault of faults) console.log(`       ${fault}`);
  return faults.length === 0;
}

async function faultsAt(fleet: Fleet, point: Point): Promise<readonly Fault[]> {
  try {
    for (let tries = 0; tries < triesAtMost; tries += 1) {
      const outcome = await runPoint(fleet, point);
      if (outcome.kind === 'met') return outcome.faults;
    }
    return ['not killed: its step did not come'];
  } catch (error) {
    return [`other: ${String(error)}`];
  }
}

void main();
