import { runningLaunch } from '../core/fleet/agent.ts';
import type { FleetState } from '../core/fleet/state.ts';
import type { Memory } from './memory.ts';

const key = 'closedTerminalTold';

/** Tells a person once that closing a terminal ends no agent. */
export class ClosedTerminalNotice {
  constructor(
    private readonly state: () => FleetState,
    private readonly memory: Memory,
    private readonly tell: (sentence: string) => void,
  ) {}

  /** The person closed the terminal of this agent. */
  closed(name: string): void {
    const agent = this.state().agents[name];
    if (agent === undefined || runningLaunch(agent) === undefined || this.memory.get(key) === true) return;
    void this.memory.update(key, true);
    this.tell(`${name} goes on without its terminal. A click on it in the Agents view attaches again; Stop ends it.`);
  }
}
