import { Emitter } from '../base/events.ts';
import { type Disposable, DisposableObject, DisposableStore } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import type { Hands } from '../node/hands/hands.ts';
import type { HandsFact } from '../protocol/fleetEvent.ts';
import type { FleetService } from './fleetService.ts';
import type { HandsTasks } from './handsTasks.ts';
import type { Clock } from './ports.ts';
import { type After, after } from './timer.ts';

/** The part of `Hands` that is used here. */
export type LentHands = Pick<Hands, 'setTasks' | 'fleetChanged' | 'onStatus' | 'dispose'>;

/** Makes hands whose facts go to `report`. */
export type CreateHands = (report: (facts: readonly HandsFact[]) => void) => LentHands;

/** What {@link OwnHands} works with. */
export interface OwnHandsOptions {
  readonly fleet: FleetService;
  readonly tasks: Pick<HandsTasks, 'tasks' | 'onTasks'>;
  /** Called each time that they are taken. */
  readonly create: CreateHands;
  readonly clock: Clock;
  readonly log: Log;
  readonly after?: After;
}

/** The name under which the gateway itself has the hands. */
export const gatewayAsHolder = 'gateway';

/** In milliseconds. A window that is reloaded is back within seconds; one that lost the gateway tries for longer. */
export const ownHandsTimes = { afterWindow: 5_000, afterStart: 15_000 } as const;

/**
 * The gateway's own hands: they act while no window has the hands, so that agents are healed at night, too, unless the
 * person's settings say otherwise. Who has the hands is decided by whoever offers them here and withdraws them.
 */
export class OwnHands extends DisposableObject {
  private readonly changes = this._register(new Emitter<undefined>());
  private readonly after: After;
  private readonly startedAt: number;
  private offered = false;
  /** A gateway that has handed over goes on for a while; its successor acts. */
  private disposed = false;
  /** The wait for a window. */
  private waiting: Disposable | undefined;
  private lent: DisposableStore | undefined;
  /** Of the hands that are lent. */
  private tmuxPath: string | undefined;

  /** The hands were taken or given back without a word from outside. */
  readonly onDidChange = this.changes.event;

  constructor(private readonly options: OwnHandsOptions) {
    super();
    this.after = options.after ?? after;
    this.startedAt = options.clock();
    this._register(
      options.fleet.onEvent(({ event }) => {
        if (event.kind === 'settings changed') this.settingsChanged();
      }),
    );
    this._register({
      dispose: () => {
        this.disposed = true;
        this.withdraw();
      },
    });
  }

  get holder(): typeof gatewayAsHolder | undefined {
    return this.lent === undefined ? undefined : gatewayAsHolder;
  }

  /** No window has the hands: they are taken if that stays so for a while. May be called again. */
  offer(): void {
    this.offered = true;
    this.arrange();
  }

  /** A window gets the hands: nothing of the own ones acts any more when this returns. */
  withdraw(): void {
    this.offered = false;
    this.release();
  }

  private arrange(): void {
    const { fleet, clock } = this.options;
    if (this.disposed || !this.offered || this.lent !== undefined || this.waiting !== undefined) return;
    if (fleet.state.settings.handsWithoutWindow === 'off') return;
    const sinceStart = clock() - this.startedAt;
    const wait = Math.max(ownHandsTimes.afterWindow, ownHandsTimes.afterStart - sinceStart);
    this.waiting = this.after(wait, () => {
      this.waiting = undefined;
      this.take();
    });
  }

  private take(): void {
    const { fleet, tasks, create, log } = this.options;
    const lent = new DisposableStore();
    const hands = lent.add(
      create((facts) => {
        if (this.lent === lent) for (const fact of facts) fleet.report(fact);
      }),
    );
    lent.add(
      hands.onStatus((status) => {
        if (status.kind === 'ready') log.info('the gateway joined tmux', { transport: status.transport });
        else if (status.kind === 'away') log.info('tmux is away', { reason: status.sentence });
      }),
    );
    lent.add(
      fleet.onEvent(() => {
        hands.fleetChanged();
      }),
    );
    lent.add(
      tasks.onTasks((all) => {
        hands.setTasks(all);
      }),
    );
    this.lent = lent;
    this.tmuxPath = fleet.state.settings.tmuxPath;
    log.info('no window has the hands: the gateway acts itself');
    this.changes.fire(undefined);
    hands.setTasks(tasks.tasks);
  }

  private settingsChanged(): void {
    const { handsWithoutWindow, tmuxPath } = this.options.fleet.state.settings;
    const isOutdated = this.lent !== undefined && tmuxPath !== this.tmuxPath;
    if ((handsWithoutWindow === 'off' || isOutdated) && this.release() === 'were lent') this.changes.fire(undefined);
    this.arrange();
  }

  private release(): 'were lent' | 'were free' {
    this.waiting?.dispose();
    this.waiting = undefined;
    const { lent } = this;
    if (lent === undefined) return 'were free';
    this.lent = undefined;
    lent.dispose();
    this.options.log.info('the gateway gave the hands back');
    return 'were lent';
  }
}
