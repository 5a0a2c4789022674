import { BowlineError } from '../base/errors.ts';
import type { Agent } from '../core/fleet/agent.ts';
import { isRestorable, lostAgents, nothingLost, openRestoration, restoreVerdict } from '../core/fleet/restore.ts';
import { agentOf } from '../core/fleet/state.ts';
import type { RestorePlan, RestoreRow } from '../protocol/restorePlan.ts';
import type { ConversationFinder } from './conversationFinder.ts';
import type { Clock, FleetPort } from './ports.ts';

/** What {@link RestoreCommands} works with. */
export interface RestoreCommandsOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
  readonly finder: Pick<ConversationFinder, 'settle' | 'preview'>;
  /** A text that was never given before. */
  readonly newId: () => string;
}

/** Brings back all agents that ended with the tmux server or the machine. Errors as told in `commandSchema`. */
export class RestoreCommands {
  constructor(private readonly options: RestoreCommandsOptions) {}

  /** What a restore would do now, without doing it. Conversations that the record lost are looked for. */
  async plan(): Promise<RestorePlan> {
    const agents: RestoreRow[] = [];
    // One after the other: each search reads many files.
    for (const agent of lostAgents(this.options.fleet.state)) agents.push(await this.row(agent));
    return { agents: agents.map((row) => (isClaimedTwice(row, agents) ? ambiguous(row) : row)) };
  }

  /** Begins to restore all that can be, or adds them to the restoration that is under way. */
  async begin(by: string): Promise<void> {
    const { fleet, clock, finder, newId } = this.options;
    const { agents } = await this.plan();
    const possible = agents.filter(({ verdict }) => isRestorable(verdict));
    if (possible.length === 0 && openRestoration(fleet.state) === undefined) throw nothingToRestore(agents);
    for (const { name } of possible) {
      const agent = agentOf(fleet.state, name);
      if (agent !== undefined) await finder.settle(agent);
    }
    const id = openRestoration(fleet.state)?.id ?? newId();
    const names = possible.map(({ name }) => name);
    await fleet.reportDurably({ at: clock(), kind: 'restore requested', id, by, agents: names });
  }

  /** Starts no more of them, and stops those that are not up yet. They can be restored later. */
  async cancel(asker: string): Promise<void> {
    const { fleet, clock } = this.options;
    const open = openRestoration(fleet.state);
    if (open === undefined) return;
    await fleet.reportDurably({ at: clock(), asker, kind: 'restore ended', id: open.id, outcome: 'called off' });
  }

  private async row(agent: Agent): Promise<RestoreRow> {
    const { name, configuration } = agent;
    const { directory } = configuration;
    try {
      return { name, directory, verdict: restoreVerdict(await this.options.finder.preview(agent)) };
    } catch (error) {
      if (!(error instanceof BowlineError)) throw error;
      const kind = error.code === 'conversation-ambiguous' ? 'ambiguous' : 'blocked';
      return { name, directory, verdict: { kind, why: error.message } };
    }
  }
}

function isClaimedTwice({ name, verdict }: RestoreRow, rows: readonly RestoreRow[]): boolean {
  return rows.some((other) => {
    if (other.name === name || verdict.kind !== 'resume' || other.verdict.kind !== 'resume') return false;
    return other.verdict.sessionId === verdict.sessionId;
  });
}

function ambiguous(row: RestoreRow): RestoreRow {
  const why =
    'the one conversation that can be its own can be that of another agent as well. Choose with Resume Other Conversation.';
  return { ...row, verdict: { kind: 'ambiguous', why } };
}

function nothingToRestore(rows: readonly RestoreRow[]): BowlineError {
  if (rows.length === 0) return new BowlineError('bad-request', nothingLost);
  const reasons = rows.map(({ name, verdict }) => `${name}: ${'why' in verdict ? verdict.why : ''}`);
  return new BowlineError('bad-request', `Nothing can be restored. ${reasons.join(' ')}`);
}
