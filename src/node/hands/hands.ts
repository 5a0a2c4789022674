import { delay, Sequencer } from '../../base/async.ts';
import { BowlineError, messageOf } from '../../base/errors.ts';
import { Emitter } from '../../base/events.ts';
import { DisposableObject } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import type { FleetState } from '../../core/fleet/state.ts';
import type { HandsFact } from '../../protocol/fleetEvent.ts';
import type { HandsTask } from '../../protocol/stream.ts';
import { agentEnvironment, type Environment } from '../environment.ts';
import type { PtyModule, PtyUnavailable } from '../pty.ts';
import { NoServerError, TmuxClient } from '../tmux/tmuxClient.ts';
import { interruptTask, lookTask, promptTaskStep, typeTask } from './keyTasks.ts';
import { Leftovers } from './leftovers.ts';
import { Observer } from './observer.ts';
import { endTask, launchTask } from './processTasks.ts';
import type { PromptStep } from './sendPrompt.ts';
import { calledOff, type TaskContext, type TaskOf } from './taskContext.ts';

export interface HandsOptions {
  readonly stateDirectory: string;
  /** The person's setting; wins over every search. */
  readonly tmuxPath?: string;
  /** Loads node-pty at the first connection. Absent: pipes. */
  readonly loadPty?: () => PtyModule | PtyUnavailable;
  /** Environment of the hosting process; its allow-listed part reaches the agents. */
  readonly environment: Environment;
  /** The fleet as this process knows it now. */
  readonly fleet: () => FleetState;
  /** Takes what was done and seen to the gateway. May lose it while the gateway is away: everything is told again. */
  readonly report: (facts: readonly HandsFact[]) => void;
  readonly log: Log;
  readonly now?: () => number;
  /** As in {@link TaskContext}; 10 s by default. */
  readonly othersEndWithin?: number;
}

/** How the hands stand to tmux. */
export type HandsStatus =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'ready'; readonly transport: 'pty' | 'pipes'; readonly fallback?: string }
  | { readonly kind: 'away'; readonly sentence: string };

/** What tmux did not answer for is tried again after this. */
const againAfterMs = 2_000;

interface RunningTask {
  readonly abort: AbortController;
}

/**
 * Runs effects on tmux and processes, and tells what it sees there. Each task is safe to run twice: it looks first for
 * what it is to bring about. Tasks of one agent run one after another.
 */
export class Hands extends DisposableObject {
  private readonly tmux: TmuxClient;
  private readonly observer: Observer;
  private readonly leftovers: Leftovers;
  private readonly context: TaskContext;
  private readonly tasks = new Map<string, RunningTask>();
  private readonly sequencers = new Map<string, Sequencer>();
  private wanted: readonly HandsTask[] = [];
  private retry: ReturnType<typeof setTimeout> | undefined;
  private readonly now: () => number;
  private readonly statusEmitter = this._register(new Emitter<HandsStatus>());
  private currentStatus: HandsStatus = { kind: 'waiting' };
  private disposed = false;

  readonly onStatus = this.statusEmitter.event;

  constructor(private readonly options: HandsOptions) {
    super();
    this.now = options.now ?? Date.now;
    this.tmux = this._register(
      new TmuxClient({
        stateDirectory: options.stateDirectory,
        environment: options.environment,
        log: options.log,
        ...(options.tmuxPath !== undefined && { tmuxPath: options.tmuxPath }),
        ...(options.loadPty !== undefined && { loadPty: options.loadPty }),
      }),
    );
    const report = (facts: readonly HandsFact[]): void => {
      this.report(facts);
    };
    this.context = {
      tmux: this.tmux,
      environment: options.environment,
      fleet: options.fleet,
      report,
      now: this.now,
      othersEndWithin: options.othersEndWithin ?? 10_000,
    };
    this.observer = this._register(
      new Observer({
        tmux: this.tmux,
        fleet: options.fleet,
        report,
        environmentOf: (name) => this.environmentOf(name),
        log: options.log,
        now: this.now,
      }),
    );
    this.leftovers = this._register(
      new Leftovers({
        tmux: this.tmux,
        fleet: options.fleet,
        inTurn: (name, work) => this.sequencerOf(name).run(work),
        log: options.log,
      }),
    );
    this._register(
      this.tmux.onState((state) => {
        switch (state.kind) {
          case 'connecting':
            this.setStatus({ kind: 'waiting' });
            break;
          case 'connected':
            this.setStatus({
              kind: 'ready',
              transport: state.transport,
              ...(state.fallback !== undefined && { fallback: state.fallback }),
            });
            break;
          case 'away':
            this.setStatus({ kind: 'away', sentence: state.error.message });
            break;
        }
      }),
    );
  }

  get status(): HandsStatus {
    return this.currentStatus;
  }

  /**
   * Takes the whole set of tasks that shall be in progress: new ones start, ones that are missing are called off. Also
   * looks at the fleet again, so that nothing is lost that was reported to a gateway that was away.
   */
  setTasks(tasks: readonly HandsTask[]): void {
    this.wanted = tasks;
    const wanted = new Set(tasks.map((task) => task.id));
    for (const [id, running] of this.tasks) {
      if (wanted.has(id)) continue;
      running.abort.abort(calledOff);
      this.tasks.delete(id);
    }
    for (const task of tasks) {
      if (!this.tasks.has(task.id)) this.start(task);
    }
    this.observer.look();
  }

  /** Leaves all tasks as they are: what is still wanted is given anew, to these hands or to others. */
  interrupt(): void {
    this.wanted = [];
    this.leave('the gateway is away');
  }

  /** To be called when the fleet changed: running agents are observed, others no longer. */
  fleetChanged(): void {
    this.observer.fleetChanged();
    this.leftovers.fleetChanged();
  }

  override dispose(): void {
    this.disposed = true;
    this.leave('the window was closed');
    super.dispose();
  }

  private leave(reason: string): void {
    clearTimeout(this.retry);
    for (const { abort } of this.tasks.values()) abort.abort(new BowlineError('cancelled', reason));
    this.tasks.clear();
  }

  private start(task: HandsTask): void {
    const abort = new AbortController();
    this.tasks.set(task.id, { abort });
    const sequencer = this.sequencerOf(task.name);
    if (task.kind === 'prompt') {
      void this.prompt(task, sequencer, abort.signal);
      return;
    }
    void sequencer.run(async () => {
      if (abort.signal.aborted) return;
      try {
        await this.run(task, abort.signal);
      } catch (error) {
        this.failed(task, error, abort.signal);
      }
    });
  }

  private sequencerOf(name: string): Sequencer {
    const sequencer = this.sequencers.get(name) ?? new Sequencer();
    this.sequencers.set(name, sequencer);
    return sequencer;
  }

  /** A prompt may wait for long: other tasks of its agent come between its steps. */
  private async prompt(task: TaskOf<'prompt'>, sequencer: Sequencer, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const step = await sequencer
        .run<PromptStep>(() => promptTaskStep(task, signal, this.context))
        .catch((error: unknown): PromptStep => {
          this.options.log.warn('a prompt cannot be sent now', { agent: task.name, reason: messageOf(error) });
          return { kind: 'again', afterMs: againAfterMs };
        });
      if (step.kind === 'done') return;
      await delay(step.afterMs, signal).catch(() => undefined);
    }
  }

  private async run(task: Exclude<HandsTask, { kind: 'prompt' }>, signal: AbortSignal): Promise<void> {
    switch (task.kind) {
      case 'launch':
        return launchTask(task, signal, this.context);
      case 'end':
        return endTask(task, signal, this.context);
      case 'type':
        return typeTask(task, signal, this.context);
      case 'look':
        return lookTask(task, this.context);
      case 'interrupt':
        return interruptTask(task, signal, this.context);
    }
  }

  private failed(task: Exclude<HandsTask, { kind: 'prompt' }>, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.tasks.delete(task.id);
    const sentence = messageOf(error);
    const code = error instanceof BowlineError ? error.code : 'internal';
    this.options.log.error(`task failed: ${task.kind}`, { agent: task.name, code, reason: sentence });
    const { name } = task;
    switch (task.kind) {
      case 'launch':
        if (code === 'tmux-no-answer' || error instanceof NoServerError) {
          // What tmux did with it is unknown, or it ended in the middle of it: so it stays wanted.
          this.report([{ at: this.now(), kind: 'launch waits', name, launchId: task.launchId, sentence }]);
          this.tryAgain();
        } else this.report([{ at: this.now(), kind: 'launch failed', name, launchId: task.launchId, code, sentence }]);
        return;
      case 'type': {
        const { server, attemptId } = task;
        const detail = sentence;
        this.report([{ at: this.now(), kind: 'rung ended', name, server, attemptId, outcome: 'put off', detail }]);
        return;
      }
      case 'look':
      case 'interrupt':
      case 'end':
        // Whether the process lives is unknown, so it stays wanted and is tried again.
        this.tryAgain();
        return;
    }
  }

  private tryAgain(): void {
    clearTimeout(this.retry);
    this.retry = setTimeout(() => {
      this.setTasks(this.wanted);
    }, againAfterMs);
  }

  private report(facts: readonly HandsFact[]): void {
    if (!this.disposed && facts.length > 0) this.options.report(facts);
  }

  /** The variables that an agent's process gets, for finding its files. */
  private environmentOf(name: string): Record<string, string> {
    const { settings, agents } = this.options.fleet();
    return agentEnvironment(this.options.environment, settings, agents[name]?.configuration);
  }

  private setStatus(status: HandsStatus): void {
    this.currentStatus = status;
    this.statusEmitter.fire(status);
  }
}
