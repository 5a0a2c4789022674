import { Sequencer } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import { Emitter } from '../base/events.ts';
import { DisposableObject } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { type Effect, type HandsEffect, isForHands } from '../core/fleet/effects.ts';
import type { Agent } from '../core/fleet/agent.ts';
import type { Launch } from '../core/fleet/life.ts';
import type { HandsTask } from '../protocol/stream.ts';
import type { FleetService } from './fleetService.ts';
import type { Clock } from './ports.ts';

/** What {@link HandsTasks} works with. */
export interface HandsTasksOptions {
  readonly fleet: FleetService;
  readonly clock: Clock;
  /** Writes the files of a launch and resolves with its task; see `LaunchFiles`. */
  readonly prepare: (agent: Agent, launch: Launch) => Promise<HandsTask>;
  /** The text of a prompt; see `PromptStore`. */
  readonly promptText: (name: string, promptId: string) => Promise<string>;
  readonly log: Log;
}

/** The effects that are planned for the hands, as tasks with everything that is needed to run them. */
export class HandsTasks extends DisposableObject {
  private readonly emitter = this._register(new Emitter<readonly HandsTask[]>());
  /** A launch's files are written one launch after another: the later one of an agent must win. */
  private readonly sequencer = new Sequencer();
  /** By effect id; undefined while its files are being written. */
  private readonly ready = new Map<string, HandsTask | undefined>();

  /** The whole new set. */
  readonly onTasks = this.emitter.event;

  constructor(private readonly options: HandsTasksOptions) {
    super();
    this._register(
      options.fleet.onEffects((effects) => {
        this.follow(effects);
      }),
    );
  }

  /** What shall be in progress now, as far as it is ready to be handed out. */
  get tasks(): readonly HandsTask[] {
    return [...this.ready.values()].filter((task) => task !== undefined);
  }

  /** Files that are not begun yet are not written any more. */
  override dispose(): void {
    this.ready.clear();
    super.dispose();
  }

  private follow(effects: readonly Effect[]): void {
    const wanted = effects.filter(isForHands);
    const ids = new Set(wanted.map((effect) => effect.id));
    let changed = false;
    for (const id of [...this.ready.keys()]) {
      if (!ids.has(id)) changed = this.ready.delete(id);
    }
    for (const effect of wanted) {
      if (this.ready.has(effect.id)) continue;
      if (effect.kind === 'launch') {
        this.ready.set(effect.id, undefined);
        void this.sequencer.run(() => this.prepare(effect));
      } else if (effect.kind === 'prompt') {
        this.ready.set(effect.id, undefined);
        void this.sequencer.run(() => this.preparePrompt(effect));
      } else {
        this.ready.set(effect.id, effect);
        changed = true;
      }
    }
    if (changed) this.emitter.fire(this.tasks);
  }

  private async prepare(effect: Extract<HandsEffect, { kind: 'launch' }>): Promise<void> {
    const { name, launch } = effect;
    const agent = this.options.fleet.state.agents[name];
    if (agent === undefined || !this.ready.has(effect.id)) return;
    try {
      const task = await this.options.prepare(agent, launch);
      // A process whose launch is not on disk would be a stranger to the next run of the gateway.
      await this.options.fleet.flush();
      if (!this.ready.has(effect.id)) return; // called off meanwhile
      this.ready.set(effect.id, task);
      this.emitter.fire(this.tasks);
    } catch (error) {
      this.options.log.error('a launch cannot be prepared', { agent: name, reason: messageOf(error) });
      this.options.fleet.report({
        at: this.options.clock(),
        kind: 'launch failed',
        name,
        launchId: launch.id,
        code: 'launch-refused',
        sentence: `The launch cannot be prepared (${messageOf(error)}). Mend that and start the agent again.`,
      });
    }
  }

  private async preparePrompt(effect: Extract<HandsEffect, { kind: 'prompt' }>): Promise<void> {
    const { name, promptId } = effect;
    if (!this.ready.has(effect.id)) return;
    try {
      const text = await this.options.promptText(name, promptId);
      if (!this.ready.has(effect.id)) return; // called off meanwhile
      this.ready.set(effect.id, { ...effect, text });
      this.emitter.fire(this.tasks);
    } catch (error) {
      this.options.log.error('the text of a prompt cannot be read', { agent: name, reason: messageOf(error) });
      // What was taken may have been typed: then it is unknown, else it failed. Only one of the two fits.
      for (const outcome of ['failed', 'unknown'] as const) {
        this.options.fleet.report({
          at: this.options.clock(),
          kind: 'prompt ended',
          name,
          promptId,
          outcome,
          detail: `Its text cannot be read any more (${messageOf(error)}). Look at the agent before you send it again.`,
        });
      }
    }
  }
}
