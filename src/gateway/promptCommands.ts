import { BowlineError } from '../base/errors.ts';
import { bindingHealth } from '../core/binding/health.ts';
import { readPromptText } from '../core/claude/promptText.ts';
import { takesPromptsAsleep } from '../core/fleet/planPrompts.ts';
import { saveRequestText } from '../core/fleet/planSaveRestart.ts';
import { isSettled } from '../core/fleet/reducePrompts.ts';
import { type Agent, currentLaunch } from '../core/fleet/agent.ts';
import { saveTool } from '../core/guard/saveTool.ts';
import { promptDigest } from '../node/promptDigest.ts';
import type { Command } from '../protocol/commands.ts';
import type { AgentKeys, Clock, FleetPort } from './ports.ts';
import type { PromptStore } from './prompts.ts';

/** What {@link PromptCommands} works with. */
export interface PromptCommandsOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
  readonly keys: Pick<AgentKeys, 'keyOf'>;
  readonly prompts: Pick<PromptStore, 'save'>;
}

type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;

/** Beyond that somebody's script runs wild. */
const openAtMost = 20;

/** Prompts, and restarts that a prompt prepares. Errors as told in `commandSchema`. */
export class PromptCommands {
  constructor(private readonly options: PromptCommandsOptions) {}

  async send(agent: Agent, { id, text: given }: CommandOf<'prompt'>, by: string): Promise<void> {
    const reading = readPromptText(given);
    if (!reading.ok) throw new BowlineError('bad-request', reading.sentence);
    if (agent.prompts?.some((prompt) => prompt.id === id) === true) return;
    if (!takesPromptsAsleep(agent) && (currentLaunch(agent) === undefined || agent.life.kind === 'stopping')) {
      throw new BowlineError(
        'not-running',
        `${agent.name} does not run (${agent.life.kind}); the prompt was not sent. Start it first.`,
      );
    }
    if ((agent.prompts ?? []).filter((prompt) => !isSettled(prompt)).length >= openAtMost) {
      throw new BowlineError(
        'bad-request',
        `${openAtMost} prompts wait for ${agent.name} already; this one was not taken. Look what they wait for.`,
      );
    }
    const { text } = reading;
    await this.options.prompts.save(agent.name, id, text);
    const digest = promptDigest(text, await this.options.keys.keyOf(agent.name));
    await this.options.fleet.reportDurably({
      at: this.options.clock(),
      kind: 'prompt requested',
      name: agent.name,
      prompt: { id, requestedAt: this.options.clock(), by, digest, characters: text.length },
    });
  }

  async cancel(agent: Agent, id: string): Promise<void> {
    const known = agent.prompts?.find((prompt) => prompt.id === id);
    if (known === undefined) throw new BowlineError('bad-request', `${agent.name} has no prompt "${id}" (any more).`);
    if (known.state.kind === 'failed') return;
    if (known.state.kind !== 'queued') {
      throw new BowlineError(
        'bad-request',
        `The prompt cannot be called off any more: it is ${known.state.kind}. Attach to ${agent.name} to interrupt its turn.`,
      );
    }
    await this.callOff(agent.name, id);
  }

  async saveAndRestart(agent: Agent, { id, mode }: CommandOf<'save and restart'>, by: string): Promise<void> {
    const { fleet, clock } = this.options;
    const { name, saveRestart } = agent;
    if (saveRestart?.promptId === id) return;
    if (saveRestart !== undefined && saveRestart.ended === undefined) {
      throw new BowlineError('guard-blocked', `${name} is being asked to save already. Wait for that, or cancel it.`);
    }
    const health = bindingHealth(agent, 'bowline-self', fleet.state.epoch, clock());
    if (agent.session?.quarantine !== undefined) {
      throw new BowlineError(
        'guard-blocked',
        `${name} cannot save its context: each of its turns fails. Force Fresh Restart begins anew, and the guard lets that through.`,
      );
    }
    if (saveTool(health.state) === 'unreachable') {
      throw new BowlineError(
        'guard-blocked',
        `${name} cannot save its context: its tools are unreachable (${health.state}). Restart it as it is: the guard lets that through.`,
      );
    }
    await this.send(agent, { kind: 'prompt', name, id, text: saveRequestText }, by);
    await fleet.reportDurably({
      at: clock(),
      kind: 'save restart requested',
      name,
      request: { promptId: id, mode },
    });
  }

  async cancelSaveAndRestart(agent: Agent, id: string): Promise<void> {
    const { saveRestart, name } = agent;
    if (saveRestart?.promptId !== id || saveRestart.ended !== undefined) {
      throw new BowlineError('bad-request', `No restart of ${name} waits for its save (any more).`);
    }
    const { fleet, clock } = this.options;
    fleet.report({
      at: clock(),
      kind: 'save restart ended',
      name,
      promptId: id,
      outcome: 'not restarted',
      detail: `${name} was not restarted: called off.`,
    });
    await this.callOff(name, id);
  }

  /** Changes nothing where something was typed. */
  private async callOff(name: string, promptId: string): Promise<void> {
    await this.options.fleet.reportDurably({
      at: this.options.clock(),
      kind: 'prompt ended',
      name,
      promptId,
      outcome: 'failed',
      detail: 'It was called off before anything was typed.',
    });
  }
}
