import { Sequencer } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import { DisposableObject } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import { readExit } from '../../core/claude/exitReading.ts';
import type { LiveSession } from '../../core/claude/liveSession.ts';
import { readScreen } from '../../core/claude/screen.ts';
import type { ProcessExit } from '../../core/fleet/events.ts';
import { type ActivityKind, type Agent, runningLaunch } from '../../core/fleet/agent.ts';
import type { FleetState } from '../../core/fleet/state.ts';
import type { RunningLaunch } from '../../core/fleet/life.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import type { HandsFact } from '../../protocol/fleetEvent.ts';
import { isWithin } from '../processIdentity.ts';
import { capturePane, endLastWords, readDeadPane } from '../tmux/paneOperations.ts';
import type { TmuxClient } from '../tmux/tmuxClient.ts';
import { worksOn } from './conversationUse.ts';
import { programSince } from './findClaude.ts';
import { Reconciler } from './reconciler.ts';
import { liveSessionDirectory, LiveSessionWatcher, readLiveSessionOf } from './liveSessions.ts';

export interface ObserverOptions {
  readonly tmux: TmuxClient;
  readonly fleet: () => FleetState;
  readonly report: (facts: readonly HandsFact[]) => void;
  readonly environmentOf: (name: string) => Readonly<Record<string, string>>;
  readonly log: Log;
  readonly now: () => number;
}

/** While a launch is not confirmed its screen is looked at this often: a dialog fires no hook. */
const screenEveryMs = 1_000;

/** With a change of activity, at most this often: finding a program may take a shell. */
const programEveryMs = 60_000;

const paneClosed = { how: 'gone', reading: 'other', detail: 'its tmux pane was closed' } as const;
const endedWithServer = {
  how: 'host gone',
  reading: 'other',
  detail: 'The tmux server ended, and this agent with it. Use Resume: it goes on where it was.',
} as const;

/**
 * Tells what happens to running agents by itself: ends, dialogs of a launch, activity from live-session files. Ends are
 * pushed by tmux; absence counts only when tmux proves it.
 */
export class Observer extends DisposableObject {
  private readonly looks = new Sequencer();
  private readonly liveSessions: LiveSessionWatcher;
  /** What {@link directories} follow from, by identity: most events, such as those of probes, change none of it. */
  private inputs: readonly unknown[] = [];
  private directories: ReadonlySet<string> = new Set();
  private screenTimer: ReturnType<typeof setTimeout> | undefined;
  private connecting = false;
  /** When the program of each running launch was last looked at. */
  private readonly programLooks = new Map<string, number>();
  /** Launches that have come up, so that their last words need no care any more. */
  private cameUp: ReadonlySet<string> = new Set();
  private disposed = false;
  private readonly reconciler: Reconciler;

  constructor(private readonly options: ObserverOptions) {
    super();
    const { tmux } = options;
    this.liveSessions = this._register(
      new LiveSessionWatcher((directory, pid) => {
        void this.liveSessionChanged(directory, pid);
      }),
    );
    this.reconciler = new Reconciler({ ...options, sessionsOf: (agent) => this.directoryOf(agent) });
    this._register(
      tmux.onPanesChanged((panes) => {
        this.looks
          .run(async () => {
            await this.accept(panes);
            await this.reconciler.run(() => tmux.listPanes());
          })
          .catch((error: unknown) => {
            options.log.warn('the fleet cannot be looked at now', { reason: messageOf(error) });
          });
      }),
    );
    this._register(
      tmux.onState((state) => {
        if (state.kind === 'away') this.reconciler.connectionLost();
        if (state.kind === 'away' && state.reason === 'no server') this.hostGone();
      }),
    );
  }

  /** Looks at everything once: panes, live-session files, screens of launches that are not confirmed. */
  look(): void {
    this.fleetChanged();
    if (this.running().length > 0 || this.reconciler.isAsked) void this.looks.run(() => this.lookNow());
  }

  /** Observes what runs now. */
  fleetChanged(): void {
    if (this.disposed) return;
    const { settings, agents } = this.options.fleet();
    const inputs = [settings, ...Object.values(agents).flatMap(({ configuration, life }) => [configuration, life])];
    if (inputs.length !== this.inputs.length || inputs.some((input, index) => input !== this.inputs[index])) {
      this.inputs = inputs;
      this.directories = new Set(this.running().flatMap(([agent]) => this.directoryOf(agent) ?? []));
      this.watchScreens();
      this.noteWhoCameUp();
      this.forgetProgramLooks();
    }
    // Also where nothing changed: one that was missing may be there by now.
    this.liveSessions.watchOnly(this.directories);
    if (this.reconciler.takeUp()) void this.looks.run(() => this.lookNow());
  }

  override dispose(): void {
    this.disposed = true;
    clearTimeout(this.screenTimer);
    super.dispose();
  }

  private async lookNow(): Promise<void> {
    const { tmux, log } = this.options;
    try {
      if (tmux.state.kind !== 'connected' && !this.connecting) {
        this.connecting = true;
        const presence = await tmux.server.presence();
        if (presence.kind === 'unknown') throw presence.error;
        if (presence.kind === 'none') {
          this.hostGone();
          await this.reconciler.run(() => Promise.resolve([]));
          return;
        }
        await tmux.connect();
      }
      await this.accept(await tmux.listPanes());
      await this.reconciler.run(() => tmux.listPanes());
      this.noteWhoCameUp();
      await Promise.all(this.running().map(([agent, running]) => this.readActivity(agent, running)));
    } catch (error) {
      log.warn('the fleet cannot be looked at now', { reason: messageOf(error) });
      this.reconciler.failed(error);
    } finally {
      this.connecting = false;
    }
  }

  /**
   * A complete listing by tmux: what is dead in it has ended. What is missing from it is gone only if it is missing from
   * one that was asked for now: this one may be older than the launch.
   */
  private async accept(panes: readonly PaneInfo[]): Promise<void> {
    const all = this.running();
    const isMissing = all.some(([, { launch }]) => !panes.some(({ launchId }) => launchId === launch.id));
    const present = isMissing ? await this.options.tmux.listPanes() : panes;
    const serverStartedAt = isMissing ? await this.serverStartedAt() : 0;
    for (const [agent, running] of all) {
      const pane = present.find(({ launchId }) => launchId === running.launch.id);
      if (pane !== undefined && !pane.dead) continue;
      const absence = running.startedAt < serverStartedAt ? endedWithServer : paneClosed;
      const exit = pane === undefined ? absence : await this.readEnd(agent, running, pane);
      this.report({
        at: this.options.now(),
        kind: 'process ended',
        name: agent.name,
        launchId: running.launch.id,
        exit,
      });
    }
  }

  /** In milliseconds since the epoch, to the second: a launch that began before lived on a server that has ended. */
  private async serverStartedAt(): Promise<number> {
    const [seconds] = await this.options.tmux.command(['display-message', '-p', '#{start_time}']);
    return Number(seconds) * 1000;
  }

  private async readEnd(agent: Agent, running: RunningLaunch, pane: PaneInfo): Promise<ProcessExit> {
    const { tmux, log } = this.options;
    let status = pane.deadStatus;
    let signal = pane.deadSignal;
    let lastLines: readonly string[] = [];
    try {
      const dead = await readDeadPane(tmux, pane.paneId);
      status = dead?.deadStatus;
      signal = dead?.deadSignal;
      lastLines = await capturePane(tmux, pane.paneId, { styles: 'none', history: 50 });
      await endLastWords(tmux, pane.paneId);
    } catch (error) {
      log.debug('the last words of a process are not readable', { reason: messageOf(error) });
    }
    const how =
      signal !== undefined ? `signal ${signal}` : status !== undefined ? `status ${status}` : 'an unknown status';
    const { reading, sentence } = readExit({
      ...(status !== undefined && { status }),
      ...(signal !== undefined && { signal }),
      lastLines,
    });
    const detail = `ended with ${how}${sentence === '' ? '' : `: ${sentence}`}`;
    const exit = {
      how: 'exited',
      ...(status !== undefined && { status }),
      ...(signal !== undefined && { signal }),
      reading,
      detail,
    } as const;
    if (status === 0 || reading !== 'other') return exit;
    const program = this.options.fleet().settings.claudePath;
    switch (await programSince(program, this.options.environmentOf(agent.name), running.startedAt)) {
      case 'same':
        return exit;
      case 'replaced':
        return { ...exit, detail: `${detail}. Its program ${program} was replaced while it ran.` };
      case 'gone':
        return { ...exit, reading: 'binary missing', detail: `${detail}. Its program ${program} is gone.` };
    }
  }

  private forgetProgramLooks(): void {
    const ids = new Set(this.running().map(([, { launch }]) => launch.id));
    for (const id of this.programLooks.keys()) if (!ids.has(id)) this.programLooks.delete(id);
  }

  private noteWhoCameUp(): void {
    const { tmux, log } = this.options;
    if (tmux.state.kind !== 'connected') return;
    const up = this.running().filter(([, running]) => running.confirmedAt !== undefined);
    const news = up.filter(([, running]) => !this.cameUp.has(running.launch.id));
    this.cameUp = new Set(up.map(([, running]) => running.launch.id));
    for (const [agent, running] of news) {
      endLastWords(tmux, running.process.pane).catch((error: unknown) => {
        log.debug('a pane stays piped', { agent: agent.name, reason: messageOf(error) });
      });
    }
  }

  private hostGone(): void {
    const at = this.options.now();
    for (const [agent, running] of this.running()) {
      const { id: launchId } = running.launch;
      this.report({ at, kind: 'process ended', name: agent.name, launchId, exit: endedWithServer });
    }
  }

  private watchScreens(): void {
    const waiting = this.running().some(([, running]) => needsScreen(running));
    if (!waiting || this.screenTimer !== undefined || this.disposed) return;
    this.screenTimer = setTimeout(() => {
      void this.readScreens().finally(() => {
        this.screenTimer = undefined;
        this.watchScreens();
      });
    }, screenEveryMs);
  }

  private async readScreens(): Promise<void> {
    if (this.options.tmux.state.kind !== 'connected') return;
    for (const [agent, running] of this.running()) {
      if (!needsScreen(running)) continue;
      try {
        const lines = await capturePane(this.options.tmux, running.process.pane, { styles: 'escapes' });
        const reading = readScreen(lines);
        const dialog = reading.kind === 'dialog' ? reading.dialog : undefined;
        if (dialog === running.dialog) continue;
        const subject = { at: this.options.now(), name: agent.name, launchId: running.launch.id };
        this.report({ ...subject, kind: 'screen read', ...(dialog !== undefined && { dialog }) });
      } catch (error) {
        this.options.log.debug('a screen is not readable', { agent: agent.name, reason: messageOf(error) });
      }
    }
  }

  private async liveSessionChanged(directory: string, pid: number): Promise<void> {
    const all = this.running().filter(([agent]) => this.directoryOf(agent) === directory);
    const own = all.find(([, running]) => running.process.pid === pid);
    if (own !== undefined) {
      const [agent, running] = own;
      await this.readActivity(agent, running);
      await this.lookAtProgram(agent, running);
      // One that was killed tells nothing more.
      if (running.shared !== undefined) await this.lookAtOther(directory, agent, running, running.shared.pid);
      return;
    }
    const session = await readLiveSessionOf(directory, pid);
    for (const [agent, running] of all) {
      if (agent.session?.id !== session?.sessionId && running.shared?.pid !== pid) continue;
      const isOwn = session !== undefined && (await isWithin(pid, running.process.pid));
      if (isOwn) this.reportActivity(agent, running, session);
      else await this.lookAtOther(directory, agent, running, pid);
    }
  }

  /** Tells whether another process works on the agent's conversation, where that is news. */
  private async lookAtOther(directory: string, agent: Agent, running: RunningLaunch, pid: number): Promise<void> {
    const { session, name } = agent;
    const isShared = session !== undefined && (await worksOn(directory, pid, session.id, running.process.pid));
    if (isShared === (running.shared?.pid === pid)) return;
    const { id: launchId } = running.launch;
    const other = isShared ? { pid } : {};
    this.report({ at: this.options.now(), kind: 'conversation shared', name, launchId, ...other });
  }

  /** Tells once that the program of a running agent was replaced or is gone. */
  private async lookAtProgram(agent: Agent, running: RunningLaunch): Promise<void> {
    const { id: launchId } = running.launch;
    const now = this.options.now();
    if (running.program !== undefined || now - (this.programLooks.get(launchId) ?? 0) < programEveryMs) return;
    this.programLooks.set(launchId, now);
    const program = this.options.fleet().settings.claudePath;
    const what = await programSince(program, this.options.environmentOf(agent.name), running.startedAt);
    if (what === 'same') return;
    this.report({ at: this.options.now(), kind: 'program changed', name: agent.name, launchId, what });
  }

  private async readActivity(agent: Agent, running: RunningLaunch): Promise<void> {
    const directory = this.directoryOf(agent);
    if (directory === undefined) return;
    const session = await readLiveSessionOf(directory, running.process.pid);
    if (session !== undefined) this.reportActivity(agent, running, session);
  }

  private reportActivity(agent: Agent, running: RunningLaunch, session: LiveSession): void {
    const activity = activityOf(session);
    if (activity === agent.activity.kind || session.updatedAt <= agent.activity.since) return;
    const { name } = agent;
    this.report({
      at: session.updatedAt,
      kind: 'activity observed',
      name,
      launchId: running.launch.id,
      activity,
    });
  }

  private directoryOf(agent: Agent): string | undefined {
    return liveSessionDirectory(this.options.environmentOf(agent.name));
  }

  private running(): readonly (readonly [Agent, RunningLaunch])[] {
    return Object.values(this.options.fleet().agents).flatMap((agent) => {
      const running = runningLaunch(agent);
      return running === undefined ? [] : [[agent, running] as const];
    });
  }

  private report(fact: HandsFact): void {
    if (!this.disposed) this.options.report([fact]);
  }
}

function needsScreen(running: RunningLaunch): boolean {
  return running.confirmedAt === undefined || running.dialog !== undefined;
}

function activityOf(session: LiveSession): ActivityKind {
  switch (session.status) {
    case 'busy':
    case 'idle':
      return session.status;
    case 'waiting':
      return session.waitingFor?.startsWith('permission') === true ? 'waiting for permission' : 'waiting for input';
  }
}
