import { waitFor } from '../harness/waitFor.ts';
import type { FleetWindow } from './fleetWindow.ts';

const patience = { timeoutMs: 60_000, everyMs: 200 };

/** Restarts an agent as a script does, with its conversation. */
export async function restart(window: FleetWindow, name: string): Promise<void> {
  await window.fleet.request('POST', `/agents/${name}/restart`, { body: { mode: 'resume' } });
}

/** Stops an agent as a script does, and waits until it is. */
export async function stop(window: FleetWindow, name: string): Promise<void> {
  await window.fleet.request('POST', `/agents/${name}/stop`);
  await waitFor(`${name} stopped`, async () => (await window.agent(name)).life.kind === 'stopped', patience);
}

/** Waits until this launch of an agent is ready and bound. */
export async function untilBound(window: FleetWindow, name: string, launchCount: number): Promise<void> {
  const isBound = async (): Promise<boolean> => {
    const state = (await window.bindings())[name];
    return state === 'ready, bound' && (await window.agent(name)).launchCount === launchCount;
  };
  await waitFor(`${name} bound in launch ${launchCount}`, isBound, { ...patience, timeoutMs: 90_000 });
}

/** Waits until an agent has ended a turn in its conversation and can take the next prompt. */
export async function untilWorked(window: FleetWindow, name: string, turns = 1): Promise<void> {
  const isIdleAgain = async (): Promise<boolean> => {
    const { session, activity } = await window.agent(name);
    return session !== undefined && session.turnsCompleted >= turns && activity.kind === 'idle';
  };
  await waitFor(`the end of ${name}'s turn`, isIdleAgain, patience);
  await window.waitForInput(name);
}
