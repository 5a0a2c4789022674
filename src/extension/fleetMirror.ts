import { reduceAll } from '../core/fleet/reduce.ts';
import { emptyFleet, type FleetState } from '../core/fleet/state.ts';
import type { GatewayMessage } from '../protocol/stream.ts';

type MirroredMessage = Extract<GatewayMessage, { kind: 'snapshot' | 'events' }>;

/** What a message did to the mirror. `gap`: a number was missed, so the state stands still until a snapshot comes. */
export type MirrorOutcome = 'changed' | 'ignored' | 'gap';

/** A window's copy of the fleet: a snapshot, then numbered events, folded by the same `reduce` as in the gateway. */
export class FleetMirror {
  private current: FleetState = emptyFleet;
  private sequence: number | undefined;

  get state(): FleetState {
    return this.current;
  }

  /** Whether a snapshot of this connection was taken. */
  get isSynchronised(): boolean {
    return this.sequence !== undefined;
  }

  accept(message: MirroredMessage): MirrorOutcome {
    if (message.kind === 'snapshot') {
      this.sequence = message.sequence;
      this.current = message.state;
      return 'changed';
    }
    if (this.sequence === undefined) return 'ignored';
    if (message.sequence > this.sequence + 1) {
      this.sequence = undefined;
      return 'gap';
    }
    const news = message.events.slice(this.sequence + 1 - message.sequence);
    if (news.length === 0) return 'ignored';
    this.sequence += news.length;
    this.current = reduceAll(news, this.current);
    return 'changed';
  }

  /** Numbers of another connection mean nothing here; the state stays as the last that was known. */
  disconnect(): void {
    this.sequence = undefined;
  }

  /** Shows what the state file holds as long as no gateway ever answered this window. */
  remember(state: FleetState): void {
    if (this.sequence === undefined && this.current === emptyFleet) this.current = state;
  }
}
