import { BowlineError } from '../base/errors.ts';
import { type Agent, runningLaunch } from '../core/fleet/agent.ts';
import type { Clock, FleetPort } from './ports.ts';

/** Has Escape pressed in the turn that is in progress now. What came of it stands in the agent's `interrupt`. */
export async function interruptTurn(
  { fleet, clock }: { readonly fleet: FleetPort; readonly clock: Clock },
  agent: Agent,
  request: { readonly id: string; readonly by: string },
): Promise<void> {
  const { name, activity } = agent;
  const running = runningLaunch(agent);
  if (running === undefined) {
    throw new BowlineError('not-running', `${name} does not run (${agent.life.kind}): there is no turn to interrupt.`);
  }
  if (running.interrupt?.id === request.id) return;
  if (activity.kind === 'waiting for permission' || activity.kind === 'waiting for input') {
    throw new BowlineError(
      'bad-request',
      `${name} is ${activity.kind}, and Escape would answer that; nothing was done. Attach to ${name} and answer it.`,
    );
  }
  if (activity.kind !== 'busy') {
    throw new BowlineError('bad-request', `${name} has no turn in progress (${activity.kind}); nothing was done.`);
  }
  if (running.interrupt !== undefined && running.interrupt.ended === undefined) {
    throw new BowlineError('bad-request', `The turn of ${name} is being interrupted already. Wait for that.`);
  }
  await fleet.reportDurably({
    at: clock(),
    kind: 'interrupt requested',
    name,
    launchId: running.launch.id,
    request: { ...request, turnSince: activity.since },
  });
}
