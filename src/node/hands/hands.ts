import { delay, Sequencer } from '../../base/async.ts';
import { BowlineError, messageOf } from '../../base/errors.ts';
import { shellLine } from '../../core/claude/shellLine.ts';
import { type ActivityKind, knownLaunchIds, runningLaunch } from '../../core/fleet/agent.ts';
import { promptForbiddenBy } from '../../core/fleet/planPrompts.ts';
import { Emitter } from '../../base/events.ts';
import { DisposableObject } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import type { FleetState } from '../../core/fleet/state.ts';
import type { PaneProcess } from '../../core/fleet/life.ts';
import type { PromptState } from '../../core/fleet/agent.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import type { HandsFact } from '../../protocol/fleetEvent.ts';
import type { HandsTask } from '../../protocol/stream.ts';
import { agentBaseEnvironment, agentEnvironment, type Environment } from '../environment.ts';
import type { PtyModule, PtyUnavailable } from '../pty.ts';
import { checkProgram, killSession, newSession, respawnPane } from '../tmux/paneOperations.ts';
import { TmuxClient } from '../tmux/tmuxClient.ts';
import { refuseInUse } from './conversationUse.ts';
import { endProcess } from './endProcess.ts';
import { findClaude } from './findClaude.ts';
import { interruptTurn } from './interrupt.ts';
import { lookAtScreen, whatForbidsEnding } from './look.ts';
import { Observer } from './observer.ts';
import { type PromptFact, type PromptStep, stepPrompt } from './sendPrompt.ts';
import { typeLine } from './typeLine.ts';
import { useOf } from './useOf.ts';

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
}

/** How the hands stand to tmux. */
export type HandsStatus =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'ready'; readonly transport: 'pty' | 'pipes'; readonly fallback?: string }
  | { readonly kind: 'away'; readonly sentence: string };

/** What tmux did not answer for is tried again after this. */
const againAfterMs = 2_000;

/** A turn that cannot be interrupted yet is looked at again after this. */
const interruptAgainMs = 250;

/** Why a task ends that is wanted by nobody any more. For any other reason it stays wanted, and other hands go on with it. */
const calledOff = new BowlineError('cancelled', 'called off');

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
    this.observer = this._register(
      new Observer({
        tmux: this.tmux,
        fleet: options.fleet,
        report: (facts) => {
          this.report(facts);
        },
        environmentOf: (name) => this.environmentOf(name),
        log: options.log,
        now: this.now,
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
    const sequencer = this.sequencers.get(task.name) ?? new Sequencer();
    this.sequencers.set(task.name, sequencer);
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

  /** A prompt may wait for long: other tasks of its agent come between its steps. */
  private async prompt(
    task: Extract<HandsTask, { kind: 'prompt' }>,
    sequencer: Sequencer,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      const step = await sequencer
        .run<PromptStep>(() => this.stepPrompt(task, signal))
        .catch((error: unknown): PromptStep => {
          this.options.log.warn('a prompt cannot be sent now', { agent: task.name, reason: messageOf(error) });
          return { kind: 'again', afterMs: againAfterMs };
        });
      if (step.kind === 'done') return;
      await delay(step.afterMs, signal).catch(() => undefined);
    }
  }

  private async stepPrompt(task: Extract<HandsTask, { kind: 'prompt' }>, signal: AbortSignal): Promise<PromptStep> {
    const { name, launchId, promptId } = task;
    if (signal.aborted) return { kind: 'done' };
    const pane = await this.livePaneOf(launchId);
    // Whether it has ended, the observer tells.
    if (pane === undefined) return { kind: 'again', afterMs: againAfterMs };
    const state = (): PromptState | undefined => {
      return this.options.fleet().agents[name]?.prompts?.find(({ id }) => id === promptId)?.state;
    };
    const report = (fact: PromptFact): void => {
      const subject = { at: this.now(), name, promptId };
      this.report([fact.kind === 'prompt waits' ? { ...subject, ...fact } : { ...subject, ...fact, launchId }]);
    };
    const stillWanted = (): boolean => {
      if (signal.aborted || !this.isIdle(name, launchId)) return false;
      const { agents, epoch } = this.options.fleet();
      const agent = agents[name];
      // What stands in its input line already is submitted all the same.
      const isTyped = state()?.kind === 'typed';
      return agent !== undefined && (isTyped || promptForbiddenBy(agent, epoch, this.now()) === undefined);
    };
    return stepPrompt(this.tmux, pane, task, { now: this.now, stillWanted, state, report });
  }

  private async run(task: Exclude<HandsTask, { kind: 'prompt' }>, signal: AbortSignal): Promise<void> {
    switch (task.kind) {
      case 'launch':
        return this.launch(task, signal);
      case 'end':
        return this.end(task, signal);
      case 'type':
        return this.type(task, signal);
      case 'look':
        return this.look(task);
      case 'interrupt':
        return this.interruptTurn(task, signal);
    }
  }

  private async launch(task: Extract<HandsTask, { kind: 'launch' }>, signal: AbortSignal): Promise<void> {
    const environment = { ...agentBaseEnvironment(this.options.environment), ...task.environment };
    await this.tmux.connect();
    const panes = await this.tmux.listPanes();
    const already = panes.find((pane) => pane.launchId === task.launchId);
    if (already !== undefined) {
      this.launched(task, already);
      return;
    }
    const program = await findClaude(task.program, environment);
    signal.throwIfAborted();
    const { name, launchId, directory } = task;
    const argv = [program, ...task.arguments];
    // Before anything is ended: a launch that cannot start leaves the former process alone.
    await checkProgram({ directory, argv, environment });
    const inSession = panes.filter((pane) => pane.sessionName === name);
    const former = inSession.find((pane) => this.isOf(name, pane)) ?? inSession[0];
    if (former !== undefined && !this.isOf(name, former)) throw this.stranger(former);
    await refuseInUse(this.options.fleet().agents[name], environment, former, signal);
    signal.throwIfAborted();
    if (former !== undefined && !former.dead && task.guard !== 'bypassed') {
      const reason = await whatForbidsEnding(this.tmux, former);
      if (reason !== undefined) throw new BowlineError('guard-blocked', reason);
      signal.throwIfAborted();
    }
    if (former !== undefined) await endProcess(former);
    signal.throwIfAborted();
    const pane =
      former === undefined
        ? await newSession(this.tmux, { name, directory, argv, environment, launchId })
        : await respawnPane(this.tmux, { paneId: former.paneId, directory, argv, environment, launchId });
    if (signal.aborted) {
      // An unverified launch that nobody wants is never kept.
      if (signal.reason === calledOff) await this.remove(pane);
      return;
    }
    this.launched(task, pane);
  }

  private launched(task: Extract<HandsTask, { kind: 'launch' }>, pane: PaneInfo): void {
    const { name, launchId } = task;
    this.report([{ at: this.now(), kind: 'launched', name, launchId, process: processOf(pane) }]);
  }

  private async end(task: Extract<HandsTask, { kind: 'end' }>, signal: AbortSignal): Promise<void> {
    const presence = await this.tmux.server.presence();
    if (presence.kind === 'unknown') throw presence.error;
    if (presence.kind === 'running') {
      await this.tmux.connect();
      const panes = (await this.tmux.listPanes()).filter((pane) => {
        return pane.sessionName === task.name && this.isOf(task.name, pane);
      });
      if (task.unless === 'in use') {
        const detail = await useOf(this.tmux, panes, this.now);
        if (signal.aborted) return;
        if (detail !== undefined) {
          this.report([{ at: this.now(), kind: 'sleep put off', name: task.name, launchId: task.launchId, detail }]);
          return;
        }
      }
      for (const pane of panes) await this.remove(pane);
    }
    const { name, launchId } = task;
    const exit = { how: 'gone', reading: 'other', detail: 'stopped' } as const;
    this.report([{ at: this.now(), kind: 'process ended', name, launchId, exit }]);
  }

  /** Whether the pane may be ended for this agent: nothing lives in it, or one of the agent's own launches does. */
  private isOf(name: string, pane: PaneInfo): boolean {
    const agent = this.options.fleet().agents[name];
    return pane.dead || (agent !== undefined && knownLaunchIds(agent).includes(pane.launchId));
  }

  /** The record of it was lost, or a person started it. It may hold work, so that only a person may end it. */
  private stranger(pane: PaneInfo): BowlineError {
    const { socketPath } = this.tmux.server;
    const tmux = `tmux -S ${/^[\w/.-]+$/.test(socketPath) ? socketPath : shellLine([socketPath])}`;
    return new BowlineError(
      'launch-refused',
      `A process that Bowline has no record of (${pane.pid}) runs in the tmux session ${pane.sessionName}; it was not touched. ` +
        `See it: ${tmux} attach -t ${pane.sessionName}. End it there, or so: ${tmux} kill-session -t ${pane.sessionName}. ` +
        'Then use Resume.',
    );
  }

  private async remove(pane: PaneInfo): Promise<void> {
    await endProcess(pane);
    await killSession(this.tmux, pane.sessionId);
  }

  private async type(task: Extract<HandsTask, { kind: 'type' }>, signal: AbortSignal): Promise<void> {
    const pane = await this.livePaneOf(task.launchId);
    const stillWanted = (): boolean => !signal.aborted && this.isIdle(task.name, task.launchId);
    const outcome =
      pane === undefined
        ? ({ kind: 'put off', reason: 'the agent is not running' } as const)
        : await typeLine(this.tmux, pane, task.text, { now: this.now, stillWanted, attempt: task.attemptId });
    // Whoever called it off knows; it may be wanted again by now.
    if (outcome.kind === 'put off' && signal.aborted) return;
    const { name, server, attemptId } = task;
    const subject = { at: this.now(), name, server, attemptId };
    this.report([
      outcome.kind === 'typed'
        ? { ...subject, kind: 'rung acted' }
        : { ...subject, kind: 'rung ended', outcome: 'put off', detail: outcome.reason },
    ]);
  }

  private async look({ name, launchId, askedAt }: Extract<HandsTask, { kind: 'look' }>): Promise<void> {
    const pane = await this.livePaneOf(launchId);
    // Whether it has ended, the observer tells.
    if (pane === undefined) return;
    const shows = await lookAtScreen(this.tmux, pane);
    this.report([{ at: this.now(), kind: 'screen looked at', name, launchId, askedAt, shows }]);
  }

  /** Tried until Escape was pressed, must not be, or is not wanted any more. */
  private async interruptTurn(task: Extract<HandsTask, { kind: 'interrupt' }>, signal: AbortSignal): Promise<void> {
    const { name, launchId, interruptId } = task;
    const stillWanted = (): boolean => !signal.aborted && this.activityOf(name, launchId) === 'busy';
    while (!signal.aborted) {
      const pane = await this.livePaneOf(launchId);
      if (pane === undefined) return;
      const step = await interruptTurn(this.tmux, pane, interruptId, { now: this.now, stillWanted });
      const subject = { at: this.now(), name, launchId, interruptId };
      switch (step.kind) {
        case 'pressed':
          this.report([{ ...subject, kind: 'interrupt pressed' }]);
          return;
        case 'refused': {
          const detail = `${name} was not interrupted: ${step.reason}. Attach to ${name} and answer it.`;
          this.report([{ ...subject, kind: 'interrupt ended', outcome: 'no effect', detail }]);
          return;
        }
        case 'put off':
          await delay(interruptAgainMs, signal).catch(() => undefined);
      }
    }
  }

  /** The pane in which this launch lives; undefined: it lives in none. */
  private async livePaneOf(launchId: string): Promise<PaneInfo | undefined> {
    await this.tmux.connect();
    return (await this.tmux.listPanes()).find((pane) => pane.launchId === launchId && !pane.dead);
  }

  private isIdle(name: string, launchId: string): boolean {
    return this.activityOf(name, launchId) === 'idle';
  }

  /** Undefined: this launch does not run. */
  private activityOf(name: string, launchId: string): ActivityKind | undefined {
    const agent = this.options.fleet().agents[name];
    const running = agent === undefined ? undefined : runningLaunch(agent);
    return running?.launch.id === launchId ? agent?.activity.kind : undefined;
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
        if (code === 'tmux-no-answer') {
          // What tmux did with it is unknown, so it stays wanted.
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

function processOf(pane: PaneInfo): PaneProcess {
  return { tmuxSession: pane.sessionId, pane: pane.paneId, pid: pane.pid };
}
