import { Emitter, type Event } from '../base/events.ts';
import { DisposableObject, toDisposable } from '../base/lifecycle.ts';
import { bindingHealth } from '../core/binding/health.ts';
import { type Connection, type FleetView, select } from '../core/fleet/select.ts';
import { enabledServers } from '../core/fleet/agent.ts';
import type { FleetState } from '../core/fleet/state.ts';

/** Where the presenter finds the fleet. */
export interface FleetSource {
  readonly state: FleetState;
  readonly connection: Connection;
  readonly onDidChange: Event<unknown>;
}

/**
 * The longest a change waits to be shown, in milliseconds; many events in a row, as the answers to all probes, are one
 * change. What a person looks at follows within a frame.
 */
const coalesceMs = 100;
const frameMs = 10;
const awayTickMs = 1_000;

/** What the views show, kept up to date: after events, and at the times at which it changes by itself. */
export class FleetPresenter extends DisposableObject {
  private readonly changeEmitter: Emitter<FleetView>;
  private readonly nowEmitter: Emitter<FleetView>;
  private shown: FleetView;
  private isStale = false;
  private connectionKind: Connection['kind'];
  private pending: ReturnType<typeof setTimeout> | undefined;
  private frame: ReturnType<typeof setTimeout> | undefined;
  private wake: ReturnType<typeof setTimeout> | undefined;

  /** For what costs little to draw: within a frame after the event. */
  readonly onDidChangeNow: Event<FleetView>;
  readonly onDidChange: Event<FleetView>;

  constructor(
    private readonly source: FleetSource,
    private readonly now: () => number = Date.now,
    onListenerError?: (error: unknown) => void,
  ) {
    super();
    this.changeEmitter = this._register(new Emitter<FleetView>(onListenerError));
    this.onDidChange = this.changeEmitter.event;
    this.nowEmitter = this._register(new Emitter<FleetView>(onListenerError));
    this.onDidChangeNow = this.nowEmitter.event;
    this.connectionKind = source.connection.kind;
    this.shown = this.select();
    this._register(
      source.onDidChange(() => {
        this.sourceChanged();
      }),
    );
    this._register(
      toDisposable(() => {
        clearTimeout(this.pending);
        clearTimeout(this.frame);
        clearTimeout(this.wake);
      }),
    );
    this.planWake();
  }

  /** The present, also between two notifications. */
  get view(): FleetView {
    if (this.isStale) this.shown = this.select();
    this.isStale = false;
    return this.shown;
  }

  get state(): FleetState {
    return this.source.state;
  }

  private sourceChanged(): void {
    this.isStale = true;
    const connectionChanged = this.source.connection.kind !== this.connectionKind;
    this.connectionKind = this.source.connection.kind;
    if (connectionChanged) {
      this.publish();
      return;
    }
    this.frame ??= setTimeout(() => {
      this.frame = undefined;
      this.nowEmitter.fire(this.view);
    }, frameMs);
    this.pending ??= setTimeout(() => {
      this.publish();
    }, coalesceMs);
  }

  private publish(): void {
    clearTimeout(this.pending);
    clearTimeout(this.frame);
    this.pending = undefined;
    this.frame = undefined;
    this.isStale = true;
    const view = this.view;
    this.planWake();
    this.nowEmitter.fire(view);
    this.changeEmitter.fire(view);
  }

  private planWake(): void {
    clearTimeout(this.wake);
    const now = this.now();
    const at = nextChange(this.source.state, this.source.connection, now);
    this.wake =
      at === undefined
        ? undefined
        : setTimeout(
            () => {
              this.publish();
            },
            Math.min(Math.max(at - now, 50), 2 ** 31 - 1),
          );
  }

  private select(): FleetView {
    return select(this.source.state, this.source.connection, this.now());
  }
}

/** When the view changes next without an event; undefined: not before one comes. */
export function nextChange(state: FleetState, connection: Connection, now: number): number | undefined {
  const agents = Object.values(state.agents);
  if (connection.kind === 'away') return agents.length === 0 ? undefined : now + awayTickMs;
  const times = agents.flatMap((agent) =>
    enabledServers(agent).flatMap((server) => {
      const health = bindingHealth(agent, server, state.epoch, now);
      // `bound` changes only by events: its time is that of the next probe.
      return 'until' in health ? [health.until] : [];
    }),
  );
  const future = times.filter((time) => time > now);
  return future.length === 0 ? undefined : Math.min(...future);
}
