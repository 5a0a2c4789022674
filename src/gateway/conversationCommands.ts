import { BowlineError } from '../base/errors.ts';
import { freshLaunch, resumeOrFresh } from '../core/fleet/launching.ts';
import { type Agent, currentLaunch, type Launch } from '../core/fleet/state.ts';
import { judgeRestart } from '../core/guard/verdict.ts';
import { forkBeforeBadTurn } from './fork.ts';
import type { Clock, FleetPort } from './ports.ts';

/** What {@link ConversationCommands} works with. */
export interface ConversationCommandsOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
}

/** What a person decides about a poisoned conversation. Errors as told in `commandSchema`. */
export class ConversationCommands {
  constructor(private readonly options: ConversationCommandsOptions) {}

  async fork(agent: Agent): Promise<void> {
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
    await this.launch(name, { id, mode: 'resume', expectedSessionId: sessionId, forkOf: of, requestedAt: at });
  }

  async keepTrying({ name, session }: Agent, by: string): Promise<void> {
    const { fleet, clock } = this.options;
    if (session?.quarantine === undefined) {
      throw new BowlineError('bad-request', `The conversation of ${name} is not held back: there is nothing to lift.`);
    }
    await fleet.reportDurably({ at: clock(), kind: 'conversation released', name, sessionId: session.id, by });
    const agent = fleet.state.agents[name];
    if (agent === undefined || currentLaunch(agent) !== undefined) return;
    await this.launch(name, resumeOrFresh(agent, clock()));
  }

  private launch(name: string, launch: Omit<Launch, 'cause'>): Promise<void> {
    const { fleet } = this.options;
    const { requestedAt: at } = launch;
    return fleet.reportDurably({ at, kind: 'launch requested', name, launch: { ...launch, cause: 'person' } });
  }
}
