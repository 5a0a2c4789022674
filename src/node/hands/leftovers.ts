import { messageOf } from '../../base/errors.ts';
import { DisposableObject } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import { type Agent, currentLaunch, isUnwanted } from '../../core/fleet/agent.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import { killSession } from '../tmux/paneOperations.ts';
import { endProcess } from './endProcess.ts';
import type { TaskContext } from './taskContext.ts';

/** What {@link Leftovers} works with. */
export interface LeftoversOptions extends Pick<TaskContext, 'tmux' | 'fleet'> {
  /** Runs work for an agent when none of its tasks is running. */
  readonly inTurn: (name: string, work: () => Promise<void>) => Promise<void>;
  readonly log: Log;
}

/**
 * Ends processes of launches that nobody wants any more: hands that died right after they started one could not tell, and
 * when its launch was replaced meanwhile no task is left that would find it. Looks whenever panes or ends change.
 */
export class Leftovers extends DisposableObject {
  private ends: readonly Agent['launches'][] = [];
  private readonly inHand = new Set<string>();

  constructor(private readonly options: LeftoversOptions) {
    super();
    this._register(
      options.tmux.onPanesChanged((panes) => {
        this.endUnwanted(panes);
      }),
    );
  }

  fleetChanged(): void {
    const ends = Object.values(this.options.fleet().agents).map(({ launches }) => launches);
    if (ends.length === this.ends.length && ends.every((one, index) => one === this.ends[index])) return;
    this.ends = ends;
    this.endUnwanted(this.options.tmux.panes ?? []);
  }

  private endUnwanted(panes: readonly PaneInfo[]): void {
    const { inTurn, log } = this.options;
    for (const pane of panes) {
      const { sessionName: name, launchId } = pane;
      if (this.inHand.has(launchId) || !this.isLeftover(pane)) continue;
      this.inHand.add(launchId);
      inTurn(name, () => this.endAll(name, launchId))
        .catch((error: unknown) => {
          log.warn('a process that nobody wants does not end', { agent: name, launchId, reason: messageOf(error) });
        })
        .finally(() => {
          this.inHand.delete(launchId);
        });
    }
  }

  private async endAll(name: string, launchId: string): Promise<void> {
    const { tmux, fleet, log } = this.options;
    const panes = (await tmux.listPanes()).filter((pane) => pane.launchId === launchId && this.isLeftover(pane));
    for (const pane of panes) {
      log.info('a process of a launch that is over is ended', { agent: name, launchId, pid: pane.pid });
      await endProcess(pane);
      const agent = fleet().agents[name];
      if (agent === undefined || currentLaunch(agent) === undefined) await killSession(tmux, pane);
    }
  }

  private isLeftover({ dead, sessionName, launchId }: PaneInfo): boolean {
    const agent = this.options.fleet().agents[sessionName];
    return !dead && agent !== undefined && isUnwanted(agent, launchId);
  }
}
