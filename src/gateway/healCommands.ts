import type { FleetEvent } from '../core/fleet/events.ts';
import type { Agent } from '../core/fleet/agent.ts';
import { activeAttempt } from '../core/healing/ladder.ts';
import type { Clock, FleetPort } from './ports.ts';

/** What healing on demand works with. */
export interface HealCommandsOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
}

/** Begins healing anew at all endpoints of these agents that lost their binding, whatever the policy. */
export async function heal(
  { fleet, clock }: HealCommandsOptions,
  agents: readonly Agent[],
  asker: string,
): Promise<void> {
  const at = clock();
  const reopened = agents.flatMap(({ name, incidents }) =>
    Object.keys(incidents).map((server): FleetEvent => ({ at, asker, kind: 'incident reopened', name, server })),
  );
  await reportAll(fleet, reopened);
}

/** Ends healing of these agents; a line that is not typed yet is not typed any more, a restart goes on. */
export async function cancelHeal(
  { fleet, clock }: HealCommandsOptions,
  agents: readonly Agent[],
  asker: string,
): Promise<void> {
  const at = clock();
  const detail = 'Healing was called off. Heal Now begins it again.';
  await reportAll(
    fleet,
    agents.flatMap(({ name, incidents }) =>
      Object.entries(incidents).flatMap(([server, incident]): readonly FleetEvent[] => {
        const end = { kind: 'asked', reason: 'called off', detail } as const;
        const ended: FleetEvent = { at, asker, kind: 'incident ended', name, server, end };
        const attempt = activeAttempt(incident);
        if (attempt?.rung !== 'reconnect' || attempt.actedAt !== undefined) return [ended];
        const { id: attemptId } = attempt;
        return [{ at, kind: 'rung ended', name, server, attemptId, outcome: 'failed', detail: 'called off' }, ended];
      }),
    ),
  );
}

async function reportAll(fleet: FleetPort, events: readonly FleetEvent[]): Promise<void> {
  await Promise.all(events.map((event) => fleet.reportDurably(event)));
}
