import { waitFor } from '../harness/waitFor.ts';
import type { FaultFleet, Victim } from './faultFleet.ts';
import { conversationFaults, fallen, type Operation, type Run } from './operations.ts';

/** A step of an operation, and who is killed there. */
export interface Point {
  readonly operation: Operation;
  readonly role: 'gateway' | 'window';
  readonly label: string;
  /** Counted among the steps of the same label. */
  readonly nth: number;
  readonly victim: Victim;
}

/** `not met`: the step did not come this time. */
export type Outcome = { readonly kind: 'not met' } | { readonly kind: 'met'; readonly faults: readonly string[] };

export function nameOfPoint({ operation, role, label, nth, victim }: Point): string {
  const where = victim === role ? '' : ` of the ${role}`;
  return `${operation.name}: ${victim} killed at "${label}" (${nth})${where}`;
}

/**
 * Does an operation without a fault, and resolves with its points: the gateway and the window with the hands are killed at
 * their own steps, the tmux server at those by which it, or a process in it, is acted on.
 */
export async function findPoints(fleet: FaultFleet, operation: Operation, times = 2): Promise<readonly Point[]> {
  const rounds: (readonly string[])[] = [];
  for (let round = 0; round < times; round += 1) {
    const run = await operation.prepare(fleet);
    await fleet.takeSteps();
    await fleet.order({ kind: 'note' });
    await attempt(fleet, run, undefined);
    const faults = await faultsOf(fleet, run, undefined, 1);
    if (faults.length > 0) throw new Error(`${operation.name} without a fault: ${faults.join('; ')}`);
    await fleet.order(undefined);
    rounds.push(numbered(await fleet.takeSteps()));
  }
  // What comes only now and then, such as a look at an interval, is no step of the operation.
  const [first = [], ...rest] = rounds;
  return first
    .filter((step) => rest.every((round) => round.includes(step)))
    .flatMap((step) => pointsOf(operation, step));
}

function numbered(steps: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  return steps.map((step) => {
    const nth = (counts.get(step) ?? 0) + 1;
    counts.set(step, nth);
    return `${nth} ${step}`;
  });
}

function pointsOf(operation: Operation, step: string): readonly Point[] {
  const [nth = '', role = '', ...words] = step.split(' ');
  const common = { operation, label: words.join(' '), nth: Number(nth) };
  if (role === 'gateway') return [{ ...common, role, victim: 'gateway' }];
  if (role !== 'window') return [];
  const actsOnTmux = /^(tmux|run tmux|signal)\b/.test(common.label);
  const victims: readonly Victim[] = actsOnTmux ? ['window', 'tmux'] : ['window'];
  return victims.map((victim) => ({ ...common, role, victim }));
}

/** How long the last steps of an operation may take once it shows as done. */
const lastStepsMs = 1_000;

/** Does the operation, kills at the point, and resolves with what is wrong when everything has settled. */
export async function runPoint(fleet: FaultFleet, point: Point): Promise<Outcome> {
  const { operation, role, label, nth, victim } = point;
  const run = await operation.prepare(fleet);
  const pid = await fleet.victimPid(victim);
  await fleet.order({ kind: 'kill', role, label, nth, ...(pid !== undefined && { victim: pid }) });
  try {
    const asked = await attempt(fleet, run, victim);
    // The fleet shows an end before it is on disk and answered for.
    const isMet = await waitFor('the kill', () => fleet.isMet, { timeoutMs: lastStepsMs }).catch(() => false);
    if (!isMet) return { kind: 'not met' };
    await settled(fleet, run, victim);
    const faults = await faultsOf(fleet, run, victim, asked);
    await fleet.makeUp(victim);
    return { kind: 'met', faults };
  } finally {
    await fleet.order(undefined);
  }
}

/**
 * What a person does: asks, and asks again where there was no answer and nothing came of it. Resolves, when it is done, with
 * how often it was asked for.
 */
async function attempt(fleet: FaultFleet, run: Run, victim: Victim | undefined): Promise<number> {
  let asked = 0;
  fleet.begin();
  const ask = async (): Promise<boolean> => {
    asked += 1;
    try {
      await run.act();
      return true;
    } catch {
      await fleet.until('the gateway', () => fleet.rig.isConnected && (run.isTaken() || !isUnderWay(fleet)));
      return run.isTaken();
    }
  };
  while (!(await ask())) if (asked > 4) throw new Error('it was asked for five times in vain');
  await settled(fleet, run, victim);
  return asked;
}

/** Waits for the end of the operation; a person opens a window again, and brings back what ended with tmux. */
async function settled(fleet: FaultFleet, run: Run, victim: Victim | undefined): Promise<void> {
  await fleet.until('its end', async () => {
    if (victim === 'window' && fleet.isMet) await fleet.keepWindows();
    if (victim === 'tmux' && fleet.isMet)
      for (const name of fallen(fleet, run)) await fleet.request({ kind: 'start', name }).catch(() => undefined);
    return fleet.rig.isConnected && run.isDone(victim) && run.expected.running.every((name) => fleet.isReady(name));
  });
}

/** Whether something of before is not at its end yet: a person would not ask again now. */
function isUnderWay(fleet: FaultFleet): boolean {
  return Object.values(fleet.rig.state.agents).some(
    ({ life }) => life.kind === 'stopping' || life.kind === 'launching',
  );
}

/** Looks until nothing is wrong; what stays wrong is a fault. */
async function faultsOf(
  fleet: FaultFleet,
  run: Run,
  victim: Victim | undefined,
  asked: number,
): Promise<readonly string[]> {
  let faults: readonly string[] = [];
  const look = async (): Promise<boolean> => {
    faults = [
      ...(await fleet.faults(run.expected, victim)),
      ...conversationFaults(fleet, run),
      ...(await run.faults(victim, asked)),
    ];
    return faults.length === 0;
  };
  await waitFor('a fleet without a fault', look, { timeoutMs: 15_000, everyMs: 50 }).catch((error: unknown) => {
    if (faults.length === 0) faults = [String(error)];
  });
  return faults;
}
