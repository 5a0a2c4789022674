import type { Log } from '../base/log.ts';
import { type Agent, runningLaunch } from '../core/fleet/agent.ts';
import type { RunningLaunch } from '../core/fleet/life.ts';
import { agentOf } from '../core/fleet/state.ts';
import { isSameProcess, kinshipOf, processIdentity } from '../node/processIdentity.ts';
import type { HookReport } from '../protocol/hookReport.ts';
import type { Clock, FleetPort } from './ports.ts';

/**
 * Tells the reports of an agent's own process from those of another one under the same launch: its launch line was run
 * again, or its variables were copied. The agent's process is the one on its pane.
 */
export class ReportOrigins {
  /** The launch of which a report came from the agent's own process, by agent: only then can another one be told. */
  private readonly seen = new Map<string, string>();

  constructor(private readonly options: { readonly fleet: FleetPort; readonly clock: Clock; readonly log: Log }) {}

  /**
   * False where the report proves to be of another process, which is told to the fleet once. Looked at while the hook
   * waits for its answer: then what ran it lives. Whatever cannot be found out counts.
   */
  async counts(name: string, { launchId, hook, process }: HookReport): Promise<boolean> {
    const running = runningOf(agentOf(this.options.fleet.state, name), launchId);
    if (running === undefined || process === undefined) return true;
    const own = running.process.pid;
    // An identity that was taken in another namespace of pids is that of no process here.
    if ((await isSameProcess(process)) !== 'alive') return true;
    const kinship = await kinshipOf(process.pid, own);
    if (kinship === 'within') {
      this.seen.set(name, launchId);
      const other = running.doubled;
      if (other !== undefined && (await isSameProcess(other)) === 'gone') this.tell(name, launchId, undefined);
      return true;
    }
    if (kinship === 'unknown' || this.seen.get(name) !== launchId) return true;
    if ((await processIdentity(own)) === undefined) return true;
    const { event } = hook;
    this.options.log.warn('a hook of another process under this launch', { agent: name, event, pid: process.pid });
    this.tell(name, launchId, event === 'SessionEnd' ? undefined : process);
    return false;
  }

  private tell(name: string, launchId: string, process: HookReport['process']): void {
    const { fleet, clock } = this.options;
    // Asked anew: the fleet may have changed while processes were looked at.
    const known = runningOf(agentOf(fleet.state, name), launchId)?.doubled;
    if (known?.pid === process?.pid && known?.startTime === process?.startTime) return;
    fleet.report({ at: clock(), kind: 'launch doubled', name, launchId, ...(process !== undefined && { process }) });
  }
}

function runningOf(agent: Agent | undefined, launchId: string): RunningLaunch | undefined {
  const running = agent === undefined ? undefined : runningLaunch(agent);
  return running?.launch.id === launchId ? running : undefined;
}
