import { messageOf } from '../base/errors.ts';
import { Emitter, type Event } from '../base/events.ts';
import type { Disposable } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { bindingHealth } from '../core/binding/health.ts';
import type { Effect } from '../core/fleet/effects.ts';
import type { FleetEvent, FleetEventKind } from '../core/fleet/events.ts';
import { plan } from '../core/fleet/plan.ts';
import { reduce } from '../core/fleet/reduce.ts';
import { agentOf, type FleetState, type Notice } from '../core/fleet/state.ts';
import type { NumberedEvent } from '../node/stateFiles.ts';
import type { Clock, FleetPort } from './ports.ts';
import type { StateJournal } from './stateJournal.ts';
import { StateWriter, type Urgency } from './stateWriter.ts';
import { type After, after } from './timer.ts';

/** What a {@link FleetService} works with. */
export interface FleetServiceOptions {
  readonly state: FleetState;
  /** Number of the last event in that state (0). */
  readonly sequence?: number;
  readonly clock: Clock;
  readonly journal: Pick<StateJournal, 'add' | 'commit'>;
  readonly log: Log;
  readonly after?: After;
}

/** How long the plan after a lazy fact that changes no health waits for more: the answers of many agents come at once. In milliseconds. */
const planSoonMs = 50;

/** A plan that still decides after so many rounds contradicts itself. */
const roundsAtMost = 50;

/** Lazy: what comes often and is found out anew after a restart; it is written with the next durable change. */
const urgencies: Readonly<Record<FleetEventKind, Urgency>> = {
  'epoch started': 'durable',
  'host resumed': 'lazy',
  'settings changed': 'durable',
  'hands changed': 'lazy',
  noticed: 'durable',
  'agent created': 'durable',
  'adoption ended': 'durable',
  'agent configured': 'durable',
  'agent removed': 'durable',
  'own servers read': 'durable',
  'server approved': 'durable',
  'server approval withdrawn': 'durable',
  'server wants login': 'durable',
  'launch requested': 'durable',
  'stop requested': 'durable',
  'restore requested': 'durable',
  'restore ended': 'durable',
  'guard bypassed': 'durable',
  'conversation released': 'durable',
  'conversation found': 'durable',
  'hooks checked': 'durable',
  'conversation shared': 'durable',
  'launch doubled': 'durable',
  'program changed': 'durable',
  'difference found': 'durable',
  'reconcile requested': 'lazy',
  reconciled: 'lazy',
  'transcript seen': 'durable',
  'look requested': 'lazy',
  'screen looked at': 'lazy',
  'interrupt requested': 'durable',
  'interrupt pressed': 'durable',
  'interrupt ended': 'durable',
  doubted: 'lazy',
  'prompt requested': 'durable',
  'prompt taken': 'durable',
  'prompt waits': 'lazy',
  'prompt typed': 'durable',
  'prompt ended': 'durable',
  'save restart requested': 'durable',
  'save restart ended': 'durable',
  launched: 'durable',
  'launch failed': 'durable',
  'launch waits': 'lazy',
  'process ended': 'durable',
  'sleep put off': 'durable',
  'screen read': 'durable',
  'activity observed': 'lazy',
  'hook reported': 'durable',
  'mcp initialized': 'durable',
  'mcp tools listed': 'durable',
  'mcp proof seen': 'lazy',
  'mcp stream opened': 'durable',
  'mcp stream closed': 'durable',
  'upstream failed': 'lazy',
  'upstream answered': 'lazy',
  'upstream detached': 'durable',
  'probe answered': 'lazy',
  'probe failed': 'lazy',
  'identity fault': 'durable',
  'context saved': 'durable',
  'incident opened': 'durable',
  'incident reopened': 'durable',
  'incident closed': 'durable',
  'incident ended': 'durable',
  'rung started': 'durable',
  'rung acted': 'durable',
  'rung ended': 'durable',
  'launch verified': 'durable',
  'launch unverified': 'durable',
  'resume failed': 'durable',
};

/** Whether an endpoint is bound, or not, by this fact: a launch and a healing end with it. */
function changesHealth(event: FleetEvent, before: FleetState, after: FleetState, now: number): boolean {
  const { name, server } = { name: undefined, server: undefined, ...event };
  if (name === undefined || server === undefined) return false;
  const [former, present] = [before, after].map((state) => {
    const agent = agentOf(state, name);
    return agent && bindingHealth(agent, server, state.epoch, now).state;
  });
  return former !== present;
}

/** The one owner and writer of the fleet's state: folds facts, plans, and tells both to whoever listens. */
export class FleetService implements FleetPort, Disposable {
  private readonly events: Emitter<NumberedEvent>;
  private readonly effectSets: Emitter<readonly Effect[]>;
  private readonly writer: StateWriter;
  private readonly after: After;
  private current: FleetState;
  private count: number;
  private outbox: NumberedEvent[] = [];
  private telling = false;
  private planning = false;
  private planned: readonly Effect[] = [];
  private wake: Disposable | undefined;
  private soon: Disposable | undefined;
  private running = false;

  constructor(private readonly options: FleetServiceOptions) {
    const onListenerError = (error: unknown): void => {
      options.log.error('a listener of the fleet failed', { reason: String(error) });
    };
    this.events = new Emitter<NumberedEvent>(onListenerError);
    this.effectSets = new Emitter<readonly Effect[]>(onListenerError);
    this.after = options.after ?? after;
    this.current = options.state;
    this.count = options.sequence ?? 0;
    this.writer = new StateWriter({
      save: () => options.journal.commit(),
      refused: (error) => {
        this.notice('state-not-written', messageOf(error), 'error');
      },
      accepted: () => {
        this.notice(
          'state-written',
          'The state can be written again, and all that happened meanwhile is on disk.',
          'info',
        );
      },
      log: options.log,
      after: this.after,
    });
  }

  get state(): FleetState {
    return this.current;
  }

  /** Number of the last event that is in the state. */
  get sequence(): number {
    return this.count;
  }

  /** What is to be in progress now. */
  get effects(): readonly Effect[] {
    return this.planned;
  }

  get onEvent(): Event<NumberedEvent> {
    return this.events.event;
  }

  /** The whole new set, whenever its ids changed. */
  get onEffects(): Event<readonly Effect[]> {
    return this.effectSets.event;
  }

  /** Begins to plan; call it once the listeners for effects are there. */
  start(): void {
    this.running = true;
    this.replan();
  }

  report(event: FleetEvent): void {
    // What a clock told that was ahead would make all later facts count as older.
    const now = this.options.clock();
    const before = this.current;
    if (!this.fold(event.at > now ? { ...event, at: now } : event)) return;
    const isAwaited = urgencies[event.kind] === 'durable' || changesHealth(event, before, this.current, now);
    if (isAwaited) this.replan();
    else this.replanSoon();
  }

  async reportDurably(event: FleetEvent): Promise<void> {
    this.report(event);
    // Also when nothing changed: the same fact may have come before and still be on its way to the disk.
    await this.writer.flush();
  }

  /** Resolves when everything reported so far is on disk. */
  flush(): Promise<void> {
    return this.writer.flush();
  }

  dispose(): void {
    this.running = false;
    this.wake?.dispose();
    this.soon?.dispose();
    this.writer.dispose();
    this.events.dispose();
    this.effectSets.dispose();
  }

  private fold(event: FleetEvent): boolean {
    const next = reduce(this.current, event);
    if (next === this.current) return false;
    this.current = next;
    const numbered = { sequence: ++this.count, event };
    this.options.journal.add(numbered, next);
    this.writer.changed(urgencies[event.kind]);
    this.outbox.push(numbered);
    this.tell();
    return true;
  }

  /** A listener may report: what it reports is told after, so that all listeners see one order. */
  private tell(): void {
    if (this.telling) return;
    this.telling = true;
    for (let next = this.outbox.shift(); next !== undefined; next = this.outbox.shift()) this.events.fire(next);
    this.telling = false;
  }

  private notice(code: string, text: string, severity: Notice['severity']): void {
    const at = this.options.clock();
    this.report({ at, kind: 'noticed', notice: { at, code, sentence: text.slice(0, 4_000), severity } });
  }

  private replanSoon(): void {
    // While it plans it looks at the state again by itself.
    if (!this.running || this.planning) return;
    this.soon ??= this.after(planSoonMs, () => {
      this.replan();
    });
  }

  private replan(): void {
    this.soon?.dispose();
    this.soon = undefined;
    if (!this.running || this.planning) return;
    this.planning = true;
    try {
      this.planUntilSettled();
    } finally {
      this.planning = false;
    }
  }

  private planUntilSettled(): void {
    for (let round = 0; round < roundsAtMost; round++) {
      const before = this.current;
      const { decisions, effects, wakeAt } = plan(before, this.options.clock());
      for (const decision of decisions) this.fold(decision);
      if (this.current !== before) continue;
      if (decisions.length > 0) this.options.log.error('a decision changed nothing', { kind: decisions[0]?.kind });
      this.setWake(wakeAt);
      this.setEffects(effects);
      // A runner that reports at once has changed the state meanwhile.
      if (this.state === before) return;
    }
    this.options.log.error('planning does not settle', { rounds: roundsAtMost });
  }

  private setEffects(effects: readonly Effect[]): void {
    const same =
      effects.length === this.planned.length && effects.every((effect, index) => effect.id === this.planned[index]?.id);
    this.planned = effects;
    if (!same) this.effectSets.fire(effects);
  }

  private setWake(wakeAt: number | undefined): void {
    this.wake?.dispose();
    this.wake =
      wakeAt === undefined
        ? undefined
        : this.after(wakeAt - this.options.clock() + 1, () => {
            this.replan();
          });
  }
}
