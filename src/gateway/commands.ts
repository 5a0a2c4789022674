import { BowlineError } from '../base/errors.ts';
import { searchFor } from '../core/fleet/findConversation.ts';
import { firstLaunch, resumeOrFresh } from '../core/fleet/launching.ts';
import { readAgentName } from '../core/fleet/names.ts';
import { poisonSentence } from '../core/fleet/poison.ts';
import { type Agent, currentLaunch, enabledServers, runningLaunch } from '../core/fleet/agent.ts';
import type { EndReason, Launch } from '../core/fleet/life.ts';
import { agentOf } from '../core/fleet/state.ts';
import { activeAttempt } from '../core/healing/ladder.ts';
import type { Command } from '../protocol/commands.ts';
import type { Adoptions } from './adoptions.ts';
import { ConversationCommands } from './conversationCommands.ts';
import type { ConversationFinder } from './conversationFinder.ts';
import { cancelHeal, heal } from './healCommands.ts';
import { configurationAfter, newConfiguration, realDirectory, refuseNoWord, refuseTaken } from './configureAgent.ts';
import { interruptTurn } from './interruptTurn.ts';
import type { Clock, FleetPort } from './ports.ts';
import type { PromptCommands } from './promptCommands.ts';
import type { Restarts } from './restarts.ts';
import { RestoreCommands } from './restoreCommands.ts';
import type { ServerCommands } from './upstream/serverCommands.ts';

/** What {@link Commands} works with. */
export interface CommandsOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
  readonly prompts: PromptCommands;
  readonly adoptions: Pick<Adoptions, 'adopt'>;
  readonly restarts: Pick<Restarts, 'restart'>;
  readonly finder: Pick<ConversationFinder, 'settle' | 'preview'>;
  readonly servers: Pick<ServerCommands, 'approve' | 'withdraw' | 'reconnect' | 'cancelReconnect'>;
  /** A text that was never given before. */
  readonly newId: () => string;
}

type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;

/** Executes what a person or a script asks for: checks it against the fleet, then reports it as facts. */
export class Commands {
  readonly restores: RestoreCommands;
  private readonly conversations: ConversationCommands;

  constructor(private readonly options: CommandsOptions) {
    this.conversations = new ConversationCommands(options);
    this.restores = new RestoreCommands(options);
  }

  /**
   * Resolves when what was asked for is on its way and on disk. Rejects with a {@link BowlineError} that tells the next
   * step. `by` names the window or script in the audit.
   */
  async execute(command: Command, by: string): Promise<void> {
    switch (command.kind) {
      case 'create':
        return this.create(command, by);
      case 'adopt':
        return this.options.adoptions.adopt({ ...command, name: this.newName(command.name) }, by);
      case 'start':
        return this.start(this.agent(command.name), by);
      case 'restart':
        return this.options.restarts.restart(this.agent(command.name).name, command, by);
      case 'prompt':
        return this.options.prompts.send(this.agent(command.name), command, by);
      case 'cancel prompt':
        return this.options.prompts.cancel(this.agent(command.name), command.id);
      case 'save and restart':
        return this.options.prompts.saveAndRestart(this.agent(command.name), command, by);
      case 'cancel save and restart':
        return this.options.prompts.cancelSaveAndRestart(this.agent(command.name), command.id);
      case 'fork':
        return this.conversations.fork(this.agent(command.name), by);
      case 'resume other':
        return this.conversations.resumeOther(this.agent(command.name), command.sessionId, by);
      case 'keep trying':
        return this.conversations.keepTrying(this.agent(command.name), by);
      case 'interrupt':
        return interruptTurn(this.options, this.agent(command.name), { id: command.id, by });
      case 'stop':
        return this.stop(this.agent(command.name), 'released', by);
      case 'restore all':
        return this.restores.begin(by);
      case 'cancel restore':
        return this.restores.cancel(by);
      case 'stop all':
        await this.restores.cancel(by);
        await Promise.all(
          Object.values(this.options.fleet.state.agents).map((agent) => this.stop(agent, 'shutdown', by)),
        );
        return;
      case 'remove':
        return this.remove(this.agent(command.name), by);
      case 'verify':
        this.verify(this.agent(command.name));
        return;
      case 'reconnect':
        return this.reconnect(this.agent(command.name), command.server, by);
      case 'heal':
        return heal(this.options, this.agents(command.names), by);
      case 'cancel heal':
        return cancelHeal(this.options, this.agents(command.names), by);
      case 'configure':
        return this.options.fleet.reportDurably({
          at: this.now(),
          kind: 'settings changed',
          settings: command.settings,
        });
      case 'configure agent': {
        const { name, configuration } = this.agent(command.name);
        const next = await configurationAfter(configuration, command.change);
        return this.options.fleet.reportDurably({
          at: this.now(),
          asker: by,
          kind: 'agent configured',
          name,
          configuration: next,
        });
      }
      case 'approve server':
        return this.options.servers.approve(this.agent(command.name), command, by);
      case 'withdraw server approval':
        return this.options.servers.withdraw(this.agent(command.name), command.server, by);
      case 'reconnect upstream': {
        const agent = this.agent(command.name);
        this.refuseNotRunning(agent);
        return this.options.servers.reconnect(agent, command.server, by);
      }
      case 'cancel reconnect upstream':
        this.options.servers.cancelReconnect(this.agent(command.name), command.server);
        return;
      case 'host resumed':
        this.options.fleet.report({ at: this.now(), kind: 'host resumed' });
        return;
      case 'reconcile':
        this.options.fleet.report({ at: this.now(), asker: by, kind: 'reconcile requested' });
        return;
    }
  }

  private async create(command: CommandOf<'create'>, asker: string): Promise<void> {
    const name = this.newName(command.name);
    for (const value of [command.model, command.permissionMode]) refuseNoWord(value);
    const directory = await realDirectory(command.directory);
    refuseTaken(this.options.fleet.state, name); // another one may have been faster
    const at = this.now();
    await this.options.fleet.reportDurably({
      at,
      asker,
      kind: 'agent created',
      name,
      configuration: {
        ...newConfiguration(directory, this.options.fleet.state.settings),
        ...(command.model !== undefined && { model: command.model }),
        ...(command.permissionMode !== undefined && { permissionMode: command.permissionMode }),
      },
      launch: firstLaunch(name, at),
    });
  }

  private async start(agent: Agent, asker: string): Promise<void> {
    refuseStarted(agent);
    if (searchFor(agent).kind === 'nothing') return this.launchStopped(agent, asker);
    await this.options.finder.settle(agent);
    return this.launchStopped(this.agent(agent.name), asker);
  }

  private async launchStopped(agent: Agent, asker: string): Promise<void> {
    refuseStarted(agent);
    await this.launch(agent, asker, agent.life.kind === 'sleeping' ? 'wake' : 'person');
  }

  private async stop(agent: Agent, reason: EndReason, asker: string): Promise<void> {
    const { name, adoption } = agent;
    if (adoption !== undefined) {
      const detail = `called off; if process ${adoption.pid} has ended, Resume goes on with its conversation`;
      await this.options.fleet.reportDurably({ at: this.now(), asker, kind: 'adoption ended', name, detail });
    }
    if (currentLaunch(agent) === undefined && agent.life.kind !== 'sleeping') return;
    await this.options.fleet.reportDurably({
      at: this.now(),
      asker,
      kind: 'stop requested',
      name: agent.name,
      reason,
      // A removal that is under way is not taken back.
      then: agent.life.kind === 'stopping' ? agent.life.then : 'keep',
    });
  }

  private async remove(agent: Agent, asker: string): Promise<void> {
    const at = this.now();
    const { name } = agent;
    await this.options.fleet.reportDurably(
      currentLaunch(agent) === undefined && agent.launches.length === 0
        ? { at, asker, kind: 'agent removed', name }
        : { at, asker, kind: 'stop requested', name, reason: 'released', then: 'remove' },
    );
  }

  private verify(agent: Agent): void {
    this.refuseNotRunning(agent);
    for (const server of enabledServers(agent)) {
      this.options.fleet.report({ at: this.now(), kind: 'doubted', name: agent.name, server, cause: 'asked' });
    }
  }

  private async reconnect(agent: Agent, server: string, asker: string): Promise<void> {
    const servers = enabledServers(agent);
    if (!servers.includes(server)) {
      const known = servers.length === 0 ? 'It has none that are on.' : `It has: ${servers.join(', ')}.`;
      throw new BowlineError('bad-request', `${agent.name} has no MCP server "${server}". ${known}`);
    }
    this.refuseNotRunning(agent);
    if (activeAttempt(agent.incidents[server]) !== undefined) return;
    await this.options.fleet.reportDurably({
      at: this.now(),
      asker,
      kind: 'rung started',
      name: agent.name,
      server,
      attemptId: `${agent.name}-${this.options.newId()}`,
      rung: 'reconnect',
      by: 'person',
    });
  }

  private async launch(agent: Agent, asker: string, cause: Launch['cause'] = 'person'): Promise<void> {
    const now = this.now();
    const launch = resumeOrFresh(agent, now);
    const poison = launch.mode === 'resume' ? poisonSentence(agent) : undefined;
    if (poison !== undefined) throw new BowlineError('conversation-poisoned', poison);
    await this.options.fleet.reportDurably({
      at: now,
      asker,
      kind: 'launch requested',
      name: agent.name,
      launch: { ...launch, cause },
    });
  }

  private agents(names: readonly string[] = Object.keys(this.options.fleet.state.agents)): readonly Agent[] {
    return names.map((name) => this.agent(name));
  }

  private agent(name: string): Agent {
    const { state } = this.options.fleet;
    const agent = agentOf(state, name);
    if (agent !== undefined) return agent;
    const names = Object.keys(state.agents);
    const known = names.length === 0 ? 'There are no agents yet.' : `There are: ${names.slice(0, 20).join(', ')}.`;
    throw new BowlineError('unknown-agent', `No agent is named "${name}". ${known}`);
  }

  /** The text, where it is a name that is free. */
  private newName(text: string): string {
    const reading = readAgentName(text);
    if (!reading.ok) throw new BowlineError('name-invalid', reading.sentence);
    refuseTaken(this.options.fleet.state, reading.name);
    return reading.name;
  }

  private refuseNotRunning(agent: Agent): void {
    if (runningLaunch(agent) !== undefined) return;
    const next = agent.life.kind === 'launching' ? 'Wait until it is up.' : 'Start it first.';
    throw new BowlineError('not-running', `${agent.name} does not run (${agent.life.kind}). ${next}`);
  }

  private now(): number {
    return this.options.clock();
  }
}

function refuseStarted({ name, life }: Agent): void {
  if (life.kind === 'launching' || life.kind === 'running') {
    throw new BowlineError('already-running', `${name} runs already. Use Restart to start it anew.`);
  }
  if (life.kind !== 'stopping') return;
  throw new BowlineError('not-running', `${name} is being stopped. Wait until it is, then start it.`);
}
