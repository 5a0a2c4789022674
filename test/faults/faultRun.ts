import { BowlineError, messageOf } from '../../src/base/errors.ts';
import { waitFor } from '../harness/waitFor.ts';
import type { FaultFleet, Victim } from './faultFleet.ts';
import { conversationFaults, fallen, type Operation, type Run } from './operations.ts';
import type { Fault } from './report.ts';

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
export type Outcome = { readonly kind: 'not met' } | { readonly kind: 'met'; readonly faults: readonly Fault[] };

export function nameOfPoint({ operation, role, label, nth, victim }: Point): string {
  const where = victim === role ? '' : ` of the ${role}`;
  return `${operation.name}: ${victim} killed at "${label}" (${nth})${where}`;
}

/**
 * Does an operation without a fault, and resolves with its points: the gateway and the window with the hands are killed at
 * their own steps, the tmux server at those by which it, or a process in it, is acted on.
 */
export async function findPoints(fleet: FaultFleet, operation: Operation, times = 4): Promise<readonly Point[]> {
  const rounds: (readonly string[])[] = [];
  for (let round = 0; round < times; round += 1) {
    const run = await operation.prepare(fleet);
    await fleet.takeSteps();
    await fleet.order({ kind: 'note' });
    const faults = await new Person(fleet, run).finish();
    if (faults.length > 0) throw new Error(`${operation.name} without a fault: ${faults.join('; ')}`);
    await fleet.order(undefined);
    rounds.push(numbered(await fleet.takeSteps()));
  }
  // What comes only now and then, such as a look at an interval, is no step of the operation.
  const [first = [], ...rest] = rounds;
  const points = first
    .filter((step) => rest.every((round) => round.includes(step)))
    .flatMap((step) => pointsOf(operation, step));
  if (operation.tmux !== 'away') return points;
  const start = points.findIndex(({ label }) => label.includes('new-session'));
  return points.filter(({ victim, label }, index) => {
    return victim !== 'tmux' || (index > start + 1 && !label.startsWith('run tmux'));
  });
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

/** How long the last steps of an operation may take once it shows as done: the fleet shows an end before it is on disk. */
const lastStepsMs = 1_000;

/** Does the operation, kills at the point, and resolves with what is wrong when everything has settled. */
export async function runPoint(fleet: FaultFleet, point: Point): Promise<Outcome> {
  const { operation, role, label, nth, victim } = point;
  const run = await operation.prepare(fleet);
  const { fleetSocket } = fleet.rig.paths;
  await fleet.order({ kind: 'kill', role, label, nth, ...(victim === 'tmux' && { tmuxSocket: fleetSocket }) });
  try {
    const person = new Person(fleet, run, victim);
    const faults = await person.finish();
    const isMet = await waitFor('the kill', () => fleet.isMet, { timeoutMs: lastStepsMs }).catch(() => false);
    if (!isMet)
      return faults.length === 0
        ? { kind: 'not met' }
        : { kind: 'met', faults: ['not killed: its step did not come', ...faults] };
    const after = await person.judge();
    await fleet.makeUp(victim);
    return { kind: 'met', faults: after };
  } finally {
    await fleet.order(undefined);
  }
}

/** What a person does for an operation, and sees of it. */
class Person {
  private readonly formerEpoch: string | undefined;
  private asked = 0;
  private refusal = '';

  constructor(
    private readonly fleet: FaultFleet,
    private readonly run: Run,
    private readonly victim?: Victim,
  ) {
    this.formerEpoch = fleet.rig.state.epoch?.id;
  }

  /** Asks, asks again where there was no answer and nothing came of it, and resolves as {@link judge} does. */
  async finish(): Promise<readonly Fault[]> {
    this.fleet.begin();
    while (!(await this.ask())) if (this.asked > 4) throw new Error(`it was asked for in vain: ${this.refusal}`);
    return this.judge();
  }

  /** Looks, and brings back what fell, until all is done and nothing is wrong; what stays wrong is a fault. */
  async judge(): Promise<readonly Fault[]> {
    let faults: readonly Fault[] = [];
    const look = async (): Promise<boolean> => {
      await this.makeUp();
      faults = await this.faults();
      return faults.length === 0;
    };
    await waitFor('a fleet without a fault', look, { timeoutMs: 40_000, everyMs: 50 }).catch((error: unknown) => {
      faults = [
        ...(faults.length === 0 ? [`other: ${String(error)}` as const] : faults),
        ...(this.refusal === '' ? [] : [`other: the last refusal was ${this.refusal}` as const]),
      ];
    });
    return faults;
  }

  private async ask(): Promise<boolean> {
    const { fleet, run } = this;
    this.asked += 1;
    try {
      await run.act();
      return true;
    } catch (error) {
      this.refusal = messageOf(error);
      await fleet.until('the gateway', () => {
        return this.isConnectedAnew() && (run.isTaken() || !isUnderWay(fleet));
      });
      return run.isTaken();
    }
  }

  /** A window is opened again, and what ended with tmux is brought back; a choice that was lost with it is made again. */
  private async makeUp(): Promise<void> {
    const { fleet, run, victim } = this;
    if (!fleet.isMet) return;
    if (victim === 'window') await fleet.keepWindows();
    if (victim !== 'tmux' || run.isUnderWay?.() === true) return;
    for (const name of fallen(fleet, run)) {
      try {
        await fleet.request({ kind: 'start', name });
      } catch (error) {
        this.refusal = messageOf(error);
        if (error instanceof BowlineError && error.code === 'conversation-poisoned') await this.ask();
      }
    }
  }

  private async faults(): Promise<readonly Fault[]> {
    const { fleet, run, victim, asked } = this;
    if (!this.isConnectedAnew()) return ['lost: the gateway is away'];
    return [
      ...(run.isDone(victim) ? [] : ['lost: it is not done' as const]),
      ...(await fleet.faults(run.expected, victim)),
      ...conversationFaults(fleet, run),
      ...run.faults(victim, asked),
    ];
  }

  /** For a while after a kill the former gateway's last word is shown, of which not all may be on disk. */
  private isConnectedAnew(): boolean {
    const { fleet, victim, formerEpoch } = this;
    if (!fleet.rig.isConnected) return false;
    return victim !== 'gateway' || !fleet.isMet || fleet.rig.state.epoch?.id !== formerEpoch;
  }
}

/** Whether something of before is not at its end yet: a person would not ask again now. */
function isUnderWay(fleet: FaultFleet): boolean {
  return Object.values(fleet.rig.state.agents).some(
    ({ life }) => life.kind === 'stopping' || life.kind === 'launching',
  );
}
