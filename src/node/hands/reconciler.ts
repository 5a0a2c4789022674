import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { type Agent, runningLaunch } from '../../core/fleet/agent.ts';
import { differencesOf, type SeenAgent } from '../../core/fleet/differences.ts';
import type { FleetState } from '../../core/fleet/state.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import type { HandsFact } from '../../protocol/fleetEvent.ts';
import { exists } from '../files.ts';
import { isWithin } from '../processIdentity.ts';
import { liveClaims } from './conversationUse.ts';

export interface ReconcilerOptions {
  readonly fleet: () => FleetState;
  readonly report: (facts: readonly HandsFact[]) => void;
  /** Where Claude keeps the live-session files of this agent. */
  readonly sessionsOf: (agent: Agent) => string | undefined;
  readonly log: Log;
  readonly now: () => number;
}

/** Compares what is there with the record: once in each run of the gateway, at each connection to tmux, and when asked. */
export class Reconciler {
  private done: readonly unknown[] = [];
  private connections = 0;
  private takenUp: number | undefined;

  constructor(private readonly options: ReconcilerOptions) {}

  /** Tmux is to be looked at anew. */
  connectionLost(): void {
    this.connections += 1;
  }

  /** Whether somebody waits for it, also where nothing is known to run. */
  get isAsked(): boolean {
    const { reconciliation } = this.options.fleet();
    return reconciliation !== undefined && reconciliation.done === undefined;
  }

  /** Whether somebody waits for it whose request was not taken up yet; it is by this. */
  takeUp(): boolean {
    const askedAt = this.isAsked ? this.options.fleet().reconciliation?.askedAt : undefined;
    if (askedAt === undefined || askedAt === this.takenUp) return false;
    this.takenUp = askedAt;
    return true;
  }

  /** `list`: all panes there are, now. Does nothing where it was done already, unless the answer was lost. */
  async run(list: () => Promise<readonly PaneInfo[]>): Promise<void> {
    const { epoch, reconciliation } = this.options.fleet();
    const due = [epoch?.id, this.connections, reconciliation?.askedAt];
    if (!this.isAsked && due.every((one, index) => one === this.done[index])) return;
    this.done = due;
    const panes = await list();
    const seen = new Map<string, SeenAgent>();
    const claims = claimsByDirectory();
    for (const agent of Object.values(this.options.fleet().agents)) seen.set(agent.name, await this.see(agent, claims));
    const at = this.options.now();
    const differences = differencesOf(this.options.fleet(), panes, seen);
    if (differences.length > 0)
      this.options.log.warn('the fleet differs from its record', { count: differences.length });
    this.options.report(differences.map((difference) => ({ ...difference, at })));
    this.answer({ differences: differences.length });
  }

  /** It could not be found out. */
  failed(error: unknown): void {
    this.answer({ differences: 0, problem: messageOf(error).slice(0, 1_000) });
  }

  private answer(outcome: { readonly differences: number; readonly problem?: string }): void {
    const { reconciliation } = this.options.fleet();
    if (reconciliation === undefined || reconciliation.done !== undefined) return;
    this.options.report([{ at: this.options.now(), kind: 'reconciled', askedAt: reconciliation.askedAt, ...outcome }]);
  }

  private async see(agent: Agent, claims: typeof liveClaims): Promise<SeenAgent> {
    const { session } = agent;
    const running = runningLaunch(agent);
    const directory = running === undefined ? undefined : this.options.sessionsOf(agent);
    const path = session?.transcriptPath;
    const transcript = path === undefined ? undefined : await presenceOf(path);
    const sessions: NonNullable<SeenAgent['sessions']>[number][] = [];
    if (running !== undefined && directory !== undefined) {
      for (const { pid, sessionId } of await claims(directory)) {
        const isRelevant = pid === running.process.pid || sessionId === session?.id;
        if (isRelevant)
          sessions.push({ pid, sessionId, of: (await isWithin(pid, running.process.pid)) ? 'own' : 'other' });
      }
    }
    return { sessions, ...(transcript !== undefined && { transcript }) };
  }
}

/** Most agents share a directory: it is read once. */
function claimsByDirectory(): typeof liveClaims {
  const read = new Map<string, ReturnType<typeof liveClaims>>();
  return (directory) => {
    const claims = read.get(directory) ?? liveClaims(directory);
    read.set(directory, claims);
    return claims;
  };
}

async function presenceOf(path: string): Promise<SeenAgent['transcript']> {
  try {
    return (await exists(path)) ? 'there' : 'missing';
  } catch {
    return undefined; // it cannot be found out
  }
}
