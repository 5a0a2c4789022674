import type { NudgeEffect } from '../../core/fleet/effects.ts';
import type { Clock, FleetPort } from '../ports.ts';
import type { StandingStreams } from './standingStreams.ts';

export interface NudgeOptions {
  readonly fleet: FleetPort;
  readonly streams: Pick<StandingStreams, 'newest' | 'close'>;
  readonly clock: Clock;
}

/** Drops the standing stream of a client that answers nothing on it, so that it comes back by itself with a new one. */
export function nudge({ fleet, streams, clock }: NudgeOptions, effect: NudgeEffect): void {
  const { name, server, launchId, attemptId } = effect;
  const stream = streams.newest({ agent: name, server, launchId });
  if (stream !== undefined) streams.close(stream.session.id);
  const subject = { at: clock(), name, server, attemptId };
  fleet.report(
    stream === undefined
      ? { ...subject, kind: 'rung ended', outcome: 'failed', detail: 'no stream is open' }
      : { ...subject, kind: 'rung acted' },
  );
}
