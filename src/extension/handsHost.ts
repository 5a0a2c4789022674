import { DisposableObject, type Disposable, DisposableStore } from '../base/lifecycle.ts';
import { Emitter, type Event } from '../base/events.ts';
import type { Log } from '../base/log.ts';
import type { Connection } from '../core/fleet/select.ts';
import type { FleetState } from '../core/fleet/state.ts';
import type { HandsStatus } from '../node/hands/hands.ts';
import type { HandsTask } from '../protocol/stream.ts';

/** The part of `Hands` that is used here. */
export interface HostedHands extends Disposable {
  readonly status: HandsStatus;
  readonly onStatus: Event<HandsStatus>;
  setTasks(tasks: readonly HandsTask[]): void;
  interrupt(): void;
  fleetChanged(): void;
}

/** The part of `GatewayClient` that is used here. */
export interface HandsSource {
  readonly state: FleetState;
  readonly connection: Connection;
  readonly onDidChange: Event<unknown>;
  readonly onTasks: Event<readonly HandsTask[]>;
}

/** After this long without the gateway another process has the hands; in milliseconds. */
const keptWhileAwayMs = 30_000;

/** Holds the hands as long as the gateway lends them to this window. */
export class HandsHost extends DisposableObject {
  private readonly statusEmitter = this._register(new Emitter<undefined>());
  private hands: { readonly instance: HostedHands; readonly owned: DisposableStore } | undefined;
  private tasks: readonly HandsTask[] = [];
  private lastHolder: string | undefined;
  private farewell: ReturnType<typeof setTimeout> | undefined;

  readonly onStatus = this.statusEmitter.event;

  constructor(
    private readonly source: HandsSource,
    /** The name under which the gateway lends the hands to this window. */
    private readonly window: string,
    private readonly create: () => HostedHands,
    private readonly log: Log,
  ) {
    super();
    this._register(
      source.onTasks((tasks) => {
        this.tasks = tasks;
        this.open().setTasks(tasks);
      }),
    );
    this._register(
      source.onDidChange(() => {
        this.sourceChanged();
      }),
    );
    this._register({
      dispose: () => {
        this.release();
      },
    });
  }

  /** Why actions wait, or what is not as it should be; undefined: nothing to say. */
  get problem(): string | undefined {
    const status = this.hands?.instance.status;
    if (status?.kind === 'away' && this.tasks.length > 0) return status.sentence;
    const { fallback } = this;
    return fallback === undefined ? undefined : `tmux is driven over pipes instead of a pseudo terminal: ${fallback}`;
  }

  /** Why tmux is driven over pipes although a pseudo terminal was asked for; undefined: it is not. */
  get fallback(): string | undefined {
    const status = this.hands?.instance.status;
    return status?.kind === 'ready' ? status.fallback : undefined;
  }

  /** Takes up changed settings; the tasks go on. */
  renew(): void {
    if (this.hands === undefined) return;
    const tasks = this.tasks;
    this.release();
    this.tasks = tasks;
    this.open().setTasks(tasks);
  }

  private open(): HostedHands {
    if (this.hands !== undefined) return this.hands.instance;
    this.log.info('this window has the hands');
    const owned = new DisposableStore();
    const instance = owned.add(this.create());
    owned.add(
      instance.onStatus((status) => {
        if (status.kind === 'ready') {
          if (status.fallback === undefined) this.log.info('joined tmux', { transport: status.transport });
          else this.log.warn('tmux is driven over pipes', { reason: status.fallback });
        } else if (status.kind === 'away') this.log.info('tmux is away', { reason: status.sentence });
        this.statusEmitter.fire(undefined);
      }),
    );
    this.hands = { instance, owned };
    return instance;
  }

  private sourceChanged(): void {
    if (this.source.connection.kind === 'away') {
      if (this.hands === undefined || this.farewell !== undefined) return;
      // The gateway gives them anew, to this window or another, and their facts, lost by now, are told again.
      this.tasks = [];
      this.hands.instance.interrupt();
      this.farewell = setTimeout(() => {
        this.release();
      }, keptWhileAwayMs);
      return;
    }
    clearTimeout(this.farewell);
    this.farewell = undefined;
    const holder = this.source.state.hands?.holder;
    const wasLent = this.lastHolder === this.window && holder !== this.window;
    this.lastHolder = holder;
    if (wasLent) this.release();
    else this.hands?.instance.fleetChanged();
  }

  private release(): void {
    clearTimeout(this.farewell);
    this.farewell = undefined;
    this.tasks = [];
    if (this.hands === undefined) return;
    this.log.info('this window gave the hands back');
    const { owned } = this.hands;
    this.hands = undefined;
    owned.dispose();
  }
}
