import * as vscode from 'vscode';
import { type Disposable, DisposableObject, DisposableStore, toDisposable } from '../base/lifecycle.ts';
import { causeText } from '../core/binding/causes.ts';
import type { AgentRow, Blackout } from '../core/fleet/select.ts';
import { currentLaunch } from '../core/fleet/agent.ts';
import type { GatewayClient } from './gatewayClient.ts';
import type { FleetPresenter } from './fleetPresenter.ts';
import { byOutage, namesToHeal } from './healProgress.ts';
import { isWaiting } from '../core/fleet/need.ts';
import { changedSince, newlyInNeed, newlyWaiting } from './launchOutcome.ts';
import type { MutedAgents } from './mutedAgents.ts';
import { settingNamedIn } from './namedSetting.ts';
import { openSetting } from './openSetting.ts';
import type { CommandId } from './commands/commandIds.ts';

interface Offer {
  readonly title: string;
  readonly run: () => unknown;
  /** Asked when the person chooses it, because a message outlives its cause: why nothing is to be done any more. */
  readonly over?: () => string | undefined;
}

/** What {@link Attention} asks of the window around it. */
export interface Surroundings {
  /** The agent whose terminal the person used last, while this window is in front; undefined: none. */
  readonly inUse: () => string | undefined;
  readonly muted: MutedAgents;
}

/**
 * A question that is answered within this time, by a rule or at the terminal, is no matter for a message; in milliseconds.
 * Whether the terminal that was used last is still in sight, VS Code does not tell.
 */
const questionPatience = { elsewhere: 2_000, atItsTerminal: 15_000 } as const;

/**
 * Notifies when a person is needed: an agent asks something, became blocked or died, the gateway does not start, or it
 * noticed something grave. Of several windows only the one with the hands does, and the one whose command it was. Nothing
 * is told of an agent whose notifications the person does not want. VS Code itself holds back what is no error while the
 * person does not want to be disturbed.
 */
export class Attention extends DisposableObject {
  private readonly ownLaunches = new Set<string>();
  /** Agents whose healing a command of this window follows: it tells what becomes of them. */
  private readonly followed = new Set<string>();
  /** Outages whose message is on the screen. */
  private readonly toldOutages = new Set<string>();
  /** Of agents that have just asked something. */
  private readonly questions = new Map<string, ReturnType<typeof setTimeout>>();
  private lastAgents: readonly AgentRow[];
  private lastNoticeAt = Date.now();
  private toldStartProblem = '';

  constructor(
    private readonly presenter: FleetPresenter,
    private readonly client: GatewayClient,
    private readonly window: string,
    private readonly around: Surroundings,
  ) {
    super();
    this.lastAgents = presenter.view.agents;
    this._register(
      toDisposable(() => {
        for (const timer of this.questions.values()) clearTimeout(timer);
      }),
    );
    this._register(
      presenter.onDidChange((view) => {
        const inNeed = newlyInNeed(this.lastAgents, view.agents, this.ownLaunches);
        const waiting = newlyWaiting(this.lastAgents, view.agents);
        this.lastAgents = view.agents;
        const hasHands = client.state.hands?.holder === window;
        const isMine = ({ name }: AgentRow): boolean =>
          (hasHands || this.ownLaunches.has(name)) && !this.followed.has(name) && !around.muted.has(name);
        this.tellAll(inNeed.filter(isMine), view.blackouts);
        for (const row of waiting.filter(isMine)) this.tellQuestionLater(row.name);
        this.tellNotices();
      }),
    );
    this._register(
      client.onStartProblem((problem) => {
        const isTold = problem.message === this.toldStartProblem || client.isAwaited;
        this.toldStartProblem = problem.message;
        if (isTold) return;
        this.showUntilConnected(`${problem.message} Bowline keeps trying.`);
      }),
    );
    this._register(
      client.onDidConnect(() => {
        this.toldStartProblem = '';
      }),
    );
  }

  /** A message cannot be withdrawn, a progress can: it goes when the gateway is back, or when the person closes it. */
  private showUntilConnected(title: string): void {
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    void vscode.window.withProgress(options, (_progress, token) => {
      return new Promise<void>((resolve) => {
        const listeners = this._register(new DisposableStore());
        const end = (): void => {
          resolve();
          listeners.dispose();
        };
        listeners.add(this.client.onDidConnect(end));
        listeners.add(token.onCancellationRequested(end));
        listeners.add(toDisposable(resolve));
      });
    });
  }

  /** What becomes of this agent's launch is told in this window. */
  watch(name: string): void {
    this.ownLaunches.add(name);
  }

  /** What becomes of these agents' healing is told by the caller, until it is disposed. */
  follow(names: readonly string[]): Disposable {
    for (const name of names) this.followed.add(name);
    return toDisposable(() => {
      for (const name of names) this.followed.delete(name);
    });
  }

  /** Agents of one outage are one message, and one that is on the screen is not repeated. */
  private tellAll(rows: readonly AgentRow[], blackouts: readonly Blackout[]): void {
    const { alone, together } = byOutage(rows, blackouts);
    for (const row of alone) void this.tell(row);
    for (const { blackout, first, count } of together) {
      if (this.toldOutages.has(blackout.outage)) continue;
      this.toldOutages.add(blackout.outage);
      const told = count === 1 ? this.tell(first) : this.tellOutage(blackout, first.detail);
      void told.finally(() => this.toldOutages.delete(blackout.outage));
    }
  }

  private tellOutage({ outage, needPerson, cause, what }: Blackout, detail: string): Promise<void> {
    const offers = [command('Show Causes', 'bowline.showCauses')];
    if (causeText(cause).mend === 'reconnect') {
      // Others may have joined them since.
      const now = (): Blackout | undefined => this.presenter.view.blackouts.find((one) => one.outage === outage);
      const over = `Nothing was done: what the message said of ${needPerson.join(', ')} is over.`;
      offers.unshift({
        title: 'Heal All',
        run: () => command('', 'bowline.healNow', { agents: now()?.agents ?? [] }).run(),
        over: () => (now() === undefined ? over : undefined),
      });
    }
    const names = needPerson.length > 5 ? `${needPerson.slice(0, 5).join(', ')}, ...` : needPerson.join(', ');
    return offer(
      'error',
      `${needPerson.length} agents lost their tools and need you (${names}): ${what} ${detail}`,
      offers,
    );
  }

  private tell(row: AgentRow): Promise<void> {
    const agent = this.client.state.agents[row.name];
    const hasProcess = agent !== undefined && currentLaunch(agent) !== undefined;
    const target = { agent: row.name };
    const acting = (title: string, id: CommandId): Offer => ({
      ...command(title, id, target),
      over: () =>
        changedSince(
          row,
          this.presenter.view.agents.find(({ name }) => name === row.name),
        ),
    });
    const offers: Offer[] = [];
    if (hasProcess) offers.push(command('Attach', 'bowline.attach', target));
    const setting = settingNamedIn(row.detail);
    if (setting !== undefined) offers.push({ title: 'Open Settings', run: () => openSetting(setting) });
    if (row.poison !== undefined) {
      offers.push(acting('Start Fresh', 'bowline.forceFreshRestart'));
      offers.push(acting('Fork', 'bowline.forkConversation'));
      offers.push(acting('Keep Trying', 'bowline.keepTrying'));
    } else if (agent?.life.kind === 'blocked' && agent.life.reason === 'resume failed') {
      offers.push(acting('Start Fresh', 'bowline.forceFreshRestart'));
      offers.push(acting('Other Conversation', 'bowline.resumeOtherConversation'));
      offers.push(command('Open Transcript', 'bowline.openTranscript', target));
    } else if (!hasProcess) offers.push(acting('Resume', 'bowline.start'));
    if (namesToHeal(this.presenter.view).includes(row.name)) offers.unshift(acting('Heal Now', 'bowline.healNow'));
    // More buttons are cut so that nobody can read them.
    if (offers.length < 3) offers.push(this.mute(row.name));
    if (offers.length < 3) offers.push(command('Show Log', 'bowline.showLog'));
    return offer(row.life === 'dead' ? 'error' : 'warning', `${row.name} needs you: ${row.detail}`, offers);
  }

  private mute(name: string): Offer {
    return { title: `Don't Show for ${name}`, run: () => this.around.muted.mute(name) };
  }

  /** Once for each question: one that goes and comes back is another one. */
  private tellQuestionLater(name: string): void {
    clearTimeout(this.questions.get(name));
    const patience = this.around.inUse() === name ? questionPatience.atItsTerminal : questionPatience.elsewhere;
    const timer = setTimeout(() => {
      this.questions.delete(name);
      const row = this.presenter.view.agents.find((agent) => agent.name === name);
      if (row === undefined || !isWaiting(row)) return;
      const what = row.activity === 'waiting for permission' ? 'your permission' : 'your answer';
      void offer('warning', `${name} waits for ${what}.`, [
        command('Attach', 'bowline.attach', { agent: name }),
        this.mute(name),
      ]);
    }, patience);
    this.questions.set(name, timer);
  }

  private tellNotices(): void {
    const { notices, hands } = this.client.state;
    // A gateway that has just started notices things before it lends the hands to the window that is to tell them.
    if (hands?.holder === undefined) return;
    const fresh = notices.filter(({ at, severity }) => at > this.lastNoticeAt && severity === 'error');
    for (const { at, code, sentence, agent } of fresh) {
      this.lastNoticeAt = Math.max(this.lastNoticeAt, at);
      if (hands.holder !== this.window || (agent !== undefined && this.around.muted.has(agent))) continue;
      const offers = code === 'host-gone' ? [command('Restore All', 'bowline.restoreAll')] : [];
      void offer('error', sentence, [...offers, command('Show Log', 'bowline.showLog')]);
    }
  }
}

function command(title: string, id: CommandId, argument?: unknown): Offer {
  return { title, run: () => vscode.commands.executeCommand(id, argument) };
}

async function offer(severity: 'warning' | 'error', sentence: string, offers: readonly Offer[]): Promise<void> {
  const titles = offers.map(({ title }) => title);
  const chosen =
    severity === 'error'
      ? await vscode.window.showErrorMessage(sentence, ...titles)
      : await vscode.window.showWarningMessage(sentence, ...titles);
  const taken = offers.find(({ title }) => title === chosen);
  const over = taken?.over?.();
  if (over === undefined) await taken?.run();
  else void vscode.window.showInformationMessage(over);
}
