import { BowlineError } from '../base/errors.ts';
import type { Agent } from '../core/fleet/agent.ts';
import { runningLaunch } from '../core/fleet/agent.ts';
import type { FleetEvent } from '../core/fleet/events.ts';
import { findConversation, searchFor } from '../core/fleet/findConversation.ts';
import { reduce } from '../core/fleet/reduce.ts';
import type { Environment } from '../node/environment.ts';
import type { Clock, FleetPort } from './ports.ts';
import { lookThrough } from './transcripts.ts';

/** What {@link ConversationFinder} works with. */
export interface ConversationFinderOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
  /** Of this process; tells where Claude keeps its files. */
  readonly environment: Environment;
}

type Found = Extract<FleetEvent, { kind: 'conversation found' }>;

/**
 * Finds the conversation of an agent that is to be resumed and whose record does not name it. Rejects with
 * `conversation-ambiguous` where several can be it, and with `transcripts-unreadable` where that cannot be known.
 */
export class ConversationFinder {
  constructor(private readonly options: ConversationFinderOptions) {}

  /** Brings the record up to what is found, and says so. Resolves at once where nothing is missing. */
  async settle(agent: Agent): Promise<void> {
    const found = await this.find(agent);
    if (found === undefined) return;
    const { fleet } = this.options;
    const { name, at, sessionId } = found.event;
    await fleet.reportDurably(found.event);
    if (fleet.state.agents[name]?.session?.id !== sessionId) return;
    const notice = {
      at,
      code: 'conversation-found',
      sentence: found.sentence,
      severity: 'warning',
      agent: name,
    } as const;
    fleet.report({ at, kind: 'noticed', notice });
  }

  /** The agent as {@link settle} would leave it. */
  async preview(agent: Agent): Promise<Agent> {
    const found = await this.find(agent);
    if (found === undefined) return agent;
    return reduce(this.options.fleet.state, found.event).agents[agent.name] ?? agent;
  }

  private async find(agent: Agent): Promise<{ readonly event: Found; readonly sentence: string } | undefined> {
    const search = searchFor(agent);
    if (search.kind === 'nothing') return undefined;
    const { fleet, clock, environment } = this.options;
    const { name, configuration } = agent;
    const { directory } = configuration;
    const look = await lookThrough(
      fleet.state,
      agent,
      environment,
      search.kind === 'one' ? search.sessionId : undefined,
    );
    const { users, ownSession, unreadable } = look;
    const own =
      runningLaunch(agent) === undefined ? {} : { own: ownSession === undefined ? {} : { sessionId: ownSession } };
    const finding = findConversation(fleet.state, agent, look.found, { users, ...own });
    const [bad] = unreadable;
    if (finding.kind === 'ambiguous' || (finding.kind === 'found' && search.kind === 'any' && bad !== undefined)) {
      const count = finding.kind === 'ambiguous' ? finding.conversations.length : 1;
      const more = bad === undefined ? '' : ` (and ${unreadable.length} cannot be read)`;
      throw new BowlineError(
        'conversation-ambiguous',
        `The record of ${name} names no conversation, and ${count} in ${directory} can be its own${more}. Choose with ` +
          'Resume Other Conversation, or begin anew with Force Fresh Restart.',
      );
    }
    if (finding.kind === 'none') {
      if (bad === undefined) return undefined;
      throw new BowlineError(
        'transcripts-unreadable',
        `Whether ${name} has a conversation cannot be known: ${bad.path} cannot be read (${bad.reason}). Mend that, or ` +
          'begin anew with Force Fresh Restart.',
      );
    }
    const { sessionId, path, modifiedAt } = finding.conversation;
    const at = clock();
    const why =
      search.kind === 'one' ? 'its transcript holds a prompt' : `the only one of ${directory} that can be its own`;
    return {
      event: { at, kind: 'conversation found', name, sessionId, transcriptPath: path },
      sentence:
        `The record of ${name} was not complete. It goes on with conversation ${sessionId.slice(0, 8)}, last written ` +
        `${new Date(modifiedAt).toISOString()}: ${why}. If that is wrong, stop it and use Resume Other Conversation.`,
    };
  }
}
