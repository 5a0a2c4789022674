import { realpath, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { BowlineError, messageOf } from '../base/errors.ts';
import { bindingHealth } from '../core/binding/health.ts';
import { freshLaunch, resumeOrFresh } from '../core/fleet/launching.ts';
import { readAgentName } from '../core/fleet/names.ts';
import { poisonSentence } from '../core/fleet/poison.ts';
import {
  type Agent,
  currentLaunch,
  enabledServers,
  type Launch,
  type LaunchMode,
  runningLaunch,
} from '../core/fleet/state.ts';
import { saveTool } from '../core/guard/saveTool.ts';
import { judgeRestart, type Verdict } from '../core/guard/verdict.ts';
import { activeAttempt } from '../core/healing/ladder.ts';
import type { Command } from '../protocol/commands.ts';
import { ConversationCommands } from './conversationCommands.ts';
import type { Clock, FleetPort } from './ports.ts';
import type { PromptCommands } from './promptCommands.ts';

/** What {@link Commands} works with. */
export interface CommandsOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
  /** Built-in MCP servers that a new agent is given. */
  readonly servers: readonly string[];
  readonly prompts: PromptCommands;
  /** A text that was never given before. */
  readonly newId: () => string;
}

type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;

/** Executes what a person or a script asks for: checks it against the fleet, then reports it as facts. */
export class Commands {
  private readonly conversations: ConversationCommands;

  constructor(private readonly options: CommandsOptions) {
    this.conversations = new ConversationCommands(options);
  }

  /**
   * Resolves when what was asked for is on its way and on disk. Rejects with a {@link BowlineError} that tells the next
   * step. `by` names the window or script in the audit.
   */
  async execute(command: Command, by: string): Promise<void> {
    switch (command.kind) {
      case 'create':
        return this.create(command);
      case 'start':
        return this.start(this.agent(command.name));
      case 'restart':
        return this.restart(this.agent(command.name), command, by);
      case 'prompt':
        return this.options.prompts.send(this.agent(command.name), command, by);
      case 'cancel prompt':
        return this.options.prompts.cancel(this.agent(command.name), command.id);
      case 'save and restart':
        return this.options.prompts.saveAndRestart(this.agent(command.name), command, by);
      case 'cancel save and restart':
        return this.options.prompts.cancelSaveAndRestart(this.agent(command.name), command.id);
      case 'fork':
        return this.conversations.fork(this.agent(command.name));
      case 'keep trying':
        return this.conversations.keepTrying(this.agent(command.name), by);
      case 'stop':
        return this.stop(this.agent(command.name));
      case 'remove':
        return this.remove(this.agent(command.name));
      case 'verify':
        this.verify(this.agent(command.name));
        return;
      case 'reconnect':
        return this.reconnect(this.agent(command.name), command.server);
      case 'configure':
        return this.options.fleet.reportDurably({
          at: this.now(),
          kind: 'settings changed',
          settings: command.settings,
        });
    }
  }

  private async create(command: CommandOf<'create'>): Promise<void> {
    const reading = readAgentName(command.name);
    if (!reading.ok) throw new BowlineError('name-invalid', reading.sentence);
    const { name } = reading;
    this.refuseTaken(name);
    for (const value of [command.model, command.permissionMode]) {
      if (value !== undefined && !/^[^-\s]\S*$/.test(value)) {
        throw new BowlineError(
          'bad-request',
          `"${value}" is no model or permission mode. Leave it out, or correct it.`,
        );
      }
    }
    const directory = await realDirectory(command.directory);
    this.refuseTaken(name); // another one may have been faster
    this.options.fleet.report({
      at: this.now(),
      kind: 'agent created',
      name,
      configuration: {
        directory,
        ...(command.model !== undefined && { model: command.model }),
        ...(command.permissionMode !== undefined && { permissionMode: command.permissionMode }),
        extraArguments: [],
        environment: {},
        servers: Object.fromEntries(this.options.servers.map((server) => [server, 'on'])),
      },
    });
    await this.launch(this.agent(name), 'resume');
  }

  private async start(agent: Agent): Promise<void> {
    switch (agent.life.kind) {
      case 'launching':
      case 'running':
        throw new BowlineError('already-running', `${agent.name} runs already. Use Restart to start it anew.`);
      case 'stopping':
        throw stopping(agent);
      case 'sleeping':
        return this.launch(agent, 'resume', 'wake');
      case 'stopped':
      case 'blocked':
      case 'dead':
        return this.launch(agent, 'resume');
    }
  }

  private async restart(agent: Agent, command: CommandOf<'restart'>, by: string): Promise<void> {
    if (agent.life.kind === 'stopping') throw stopping(agent);
    const verdict = this.judge(agent, command.mode);
    if (command.guard === 'bypass') {
      this.options.fleet.report({
        at: this.now(),
        kind: 'guard bypassed',
        record: {
          at: this.now(),
          agent: agent.name,
          action: 'guard bypassed',
          mode: command.mode,
          by,
          verdict: verdict instanceof Error ? `guard error: ${verdict.message}` : verdictText(verdict),
          reason: command.reason ?? '',
        },
      });
    } else if (verdict instanceof Error) {
      throw new BowlineError(
        'guard-blocked',
        `${agent.name} was not restarted: guard error (${verdict.message}). To restart it all the same, bypass the guard.`,
        { cause: verdict },
      );
    } else if (!verdict.allowed) {
      throw new BowlineError('guard-blocked', blockedSentence(agent, verdict));
    }
    await this.launch(agent, command.mode);
  }

  private judge(agent: Agent, mode: LaunchMode): Verdict | Error {
    try {
      const now = this.now();
      const health = bindingHealth(agent, 'bowline-self', this.options.fleet.state.epoch, now);
      return judgeRestart(agent, mode, saveTool(health.state), now);
    } catch (error) {
      return error instanceof Error ? error : new Error(messageOf(error));
    }
  }

  private async stop(agent: Agent): Promise<void> {
    if (currentLaunch(agent) === undefined && agent.life.kind !== 'sleeping') return;
    await this.options.fleet.reportDurably({
      at: this.now(),
      kind: 'stop requested',
      name: agent.name,
      reason: 'released',
      // A removal that is under way is not taken back.
      then: agent.life.kind === 'stopping' ? agent.life.then : 'keep',
    });
  }

  private async remove(agent: Agent): Promise<void> {
    const at = this.now();
    const { name } = agent;
    await this.options.fleet.reportDurably(
      currentLaunch(agent) === undefined && agent.launches.length === 0
        ? { at, kind: 'agent removed', name }
        : { at, kind: 'stop requested', name, reason: 'released', then: 'remove' },
    );
  }

  private verify(agent: Agent): void {
    this.refuseNotRunning(agent);
    for (const server of enabledServers(agent)) {
      this.options.fleet.report({ at: this.now(), kind: 'doubted', name: agent.name, server, cause: 'asked' });
    }
  }

  private async reconnect(agent: Agent, server: string): Promise<void> {
    const servers = enabledServers(agent);
    if (!servers.includes(server)) {
      const known = servers.length === 0 ? 'It has none that are on.' : `It has: ${servers.join(', ')}.`;
      throw new BowlineError('bad-request', `${agent.name} has no MCP server "${server}". ${known}`);
    }
    this.refuseNotRunning(agent);
    if (activeAttempt(agent.incidents[server]) !== undefined) return;
    await this.options.fleet.reportDurably({
      at: this.now(),
      kind: 'rung started',
      name: agent.name,
      server,
      attemptId: `${agent.name}-${this.options.newId()}`,
      rung: 'reconnect',
      by: 'person',
    });
  }

  private async launch(agent: Agent, mode: LaunchMode, cause: Launch['cause'] = 'person'): Promise<void> {
    const now = this.now();
    const launch = mode === 'fresh' ? freshLaunch(agent, now) : resumeOrFresh(agent, now);
    const poison = launch.mode === 'resume' ? poisonSentence(agent) : undefined;
    if (poison !== undefined) throw new BowlineError('conversation-poisoned', poison);
    await this.options.fleet.reportDurably({
      at: now,
      kind: 'launch requested',
      name: agent.name,
      launch: { ...launch, cause },
    });
  }

  private agent(name: string): Agent {
    const { agents } = this.options.fleet.state;
    const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
    if (agent !== undefined) return agent;
    const names = Object.keys(agents);
    const known = names.length === 0 ? 'There are no agents yet.' : `There are: ${names.slice(0, 20).join(', ')}.`;
    throw new BowlineError('unknown-agent', `No agent is named "${name}". ${known}`);
  }

  private refuseTaken(name: string): void {
    if (!Object.hasOwn(this.options.fleet.state.agents, name)) return;
    throw new BowlineError('name-taken', `An agent named ${name} exists already. Choose another name, or remove it.`);
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

async function realDirectory(text: string): Promise<string> {
  const missing = (what: string): BowlineError =>
    new BowlineError('directory-missing', `${what} Choose a directory that exists, by its absolute path.`);
  if (!isAbsolute(text) || text.includes('\0')) throw missing(`"${text}" is not an absolute path.`);
  try {
    const directory = await realpath(text);
    if ((await stat(directory)).isDirectory()) return directory;
  } catch (error) {
    throw missing(`The directory ${text} cannot be used (${messageOf(error)}).`);
  }
  throw missing(`${text} is not a directory.`);
}

function stopping(agent: Agent): BowlineError {
  return new BowlineError('not-running', `${agent.name} is being stopped. Wait until it is, then start it.`);
}

function verdictText(verdict: Verdict): string {
  return verdict.downgraded === 'no' ? verdict.reason : `${verdict.reason} (${verdict.downgraded})`;
}

function blockedSentence(agent: Agent, verdict: Verdict): string {
  const { saveAgeSeconds: age, saveTrailsBySeconds: trails } = verdict;
  const numbers = [
    ...(age === undefined ? [] : [`the last save is ${age} s old`]),
    ...(trails === undefined ? [] : [`the last work came ${trails} s after it`]),
  ].join(', ');
  const why = numbers === '' ? verdict.reason : `${verdict.reason} (${numbers})`;
  return (
    `${agent.name} was not restarted: ${why}. Would be lost: ${verdict.wouldBeLost} ` +
    `${nextStep(verdict)} To restart it all the same, bypass the guard.`
  );
}

function nextStep(verdict: Verdict): string {
  switch (verdict.reason) {
    case 'turn in progress':
      return 'Wait for the end of the turn, or interrupt it.';
    case 'waiting for permission':
      return 'Attach and answer the question.';
    case 'unsent input':
      return 'Attach, and send or remove what stands there.';
    case 'missing context':
    case 'missing explicit save':
    case 'different session':
    case 'save too old':
      return 'Ask the agent to save its context first, or restart it with resume.';
    case 'ok':
    case 'not running':
    case 'no completed turn':
      return '';
  }
}
