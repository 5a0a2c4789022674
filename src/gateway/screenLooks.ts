import type { Event } from '../base/events.ts';
import { runningLaunch } from '../core/fleet/agent.ts';
import { agentOf } from '../core/fleet/state.ts';
import type { NumberedEvent } from '../node/stateFiles.ts';
import type { Clock, FleetPort } from './ports.ts';
import { type After, after } from './timer.ts';

/** What {@link ScreenLooks} works with. */
export interface ScreenLooksOptions {
  readonly fleet: FleetPort & { readonly onEvent: Event<NumberedEvent> };
  readonly clock: Clock;
  readonly after?: After;
}

/** How long a restart waits for the hands to look, in milliseconds. They look again before they end anything. */
const waitAtMost = 1_500;

/** Has the hands look at the screen of an agent; what they see stands in its state. */
export class ScreenLooks {
  constructor(private readonly options: ScreenLooksOptions) {}

  /** Resolves when they have looked; at once where nothing runs or nobody has the hands, and when they take too long. */
  async lookAt(name: string): Promise<void> {
    const { fleet, clock } = this.options;
    const running = this.runningOf(name);
    if (running === undefined || fleet.state.hands === undefined) return;
    const launchId = running.launch.id;
    const isOver = (): boolean => {
      const now = this.runningOf(name);
      return now?.launch.id !== launchId || now.look?.seen !== undefined;
    };
    fleet.report({ at: clock(), kind: 'look requested', name, launchId });
    await new Promise<void>((resolve) => {
      const end = (): void => {
        listener.dispose();
        timer.dispose();
        resolve();
      };
      const listener = fleet.onEvent(() => {
        if (isOver()) end();
      });
      const timer = (this.options.after ?? after)(waitAtMost, end);
    });
  }

  private runningOf(name: string): ReturnType<typeof runningLaunch> {
    const agent = agentOf(this.options.fleet.state, name);
    return agent === undefined ? undefined : runningLaunch(agent);
  }
}
