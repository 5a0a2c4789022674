import { BowlineError } from '../base/errors.ts';
import { isSessionId } from '../core/claude/launchArguments.ts';
import { freshLaunch, resumeOf, resumeOrFresh } from '../core/fleet/launching.ts';
import { poisonSentence } from '../core/fleet/poison.ts';
import { type Agent, currentLaunch } from '../core/fleet/agent.ts';
import type { Launch } from '../core/fleet/life.ts';
import { judgeRestart } from '../core/guard/verdict.ts';
import { forkBeforeBadTurn } from './fork.ts';
import type { Clock, FleetPort } from './ports.ts';

/** What {@link ConversationCommands} works with. */
export interface ConversationCommandsOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
}

/** What a person decides about conversations. Errors as told in `commandSchema`. */
export class ConversationCommands {
  constructor(private readonly options: ConversationCommandsOptions) {}

  async fork(agent: Agent, by: string): Promise<void> {
    const { fleet, clock } = this.options;
    const { name } = agent;
    // It is resumed, so that nothing has to be saved.
    const { allowed, reason } = judgeRestart(agent, 'resume', 'reachable', clock());
    if (!allowed || agent.life.kind === 'stopping') {
      const why = allowed ? 'it is being stopped' : reason;
      throw new BowlineError('guard-blocked', `${name} was not forked: ${why}. Wait for that, then fork it again.`);
    }
    const { sessionId, of, leftOut } = await forkBeforeBadTurn(agent);
    const at = clock();
    const sentence =
      `${name} goes on in a copy of its conversation, without the last ${leftOut === 1 ? 'turn' : `${leftOut} turns`}. ` +
      `The original stays as it is: ${of}.`;
    fleet.report({
      at,
      kind: 'noticed',
      notice: { at, code: 'conversation-forked', sentence, severity: 'info', agent: name },
    });
    const { id } = freshLaunch(fleet.state.agents[name] ?? agent, at);
    await this.launch(name, by, { id, mode: 'resume', expectedSessionId: sessionId, forkOf: of, requestedAt: at });
  }

  /** A person's choice counts more than what was given up or held back. */
  async resumeOther(agent: Agent, sessionId: string, by: string): Promise<void> {
    const { name } = agent;
    if (!isSessionId(sessionId)) {
      throw new BowlineError('bad-request', `"${sessionId}" is no id of a conversation: give the UUID of its session.`);
    }
    if (currentLaunch(agent) !== undefined) {
      throw new BowlineError('already-running', `${name} runs. Stop it, then resume another conversation.`);
    }
    const { agents } = this.options.fleet.state;
    const user = Object.values(agents).find((one) => {
      return currentLaunch(one) !== undefined && one.session?.id === sessionId;
    });
    if (user !== undefined) {
      throw new BowlineError(
        'conversation-in-use',
        `${user.name} runs in that conversation. Stop it first, or choose another one: two at once would spoil it.`,
      );
    }
    if (agent.session?.id === sessionId && agent.session.quarantine !== undefined) {
      throw new BowlineError('conversation-poisoned', poisonSentence(agent) ?? '');
    }
    await this.launch(name, by, resumeOf(agent, sessionId, this.options.clock()));
  }

  async keepTrying({ name, session }: Agent, by: string): Promise<void> {
    const { fleet, clock } = this.options;
    if (session?.quarantine === undefined) {
      throw new BowlineError('bad-request', `The conversation of ${name} is not held back: there is nothing to lift.`);
    }
    await fleet.reportDurably({ at: clock(), kind: 'conversation released', name, sessionId: session.id, by });
    const agent = fleet.state.agents[name];
    if (agent === undefined || currentLaunch(agent) !== undefined) return;
    await this.launch(name, by, resumeOrFresh(agent, clock()));
  }

  private launch(name: string, asker: string, launch: Omit<Launch, 'cause'>): Promise<void> {
    const { fleet } = this.options;
    const { requestedAt: at } = launch;
    return fleet.reportDurably({ at, asker, kind: 'launch requested', name, launch: { ...launch, cause: 'person' } });
  }
}
