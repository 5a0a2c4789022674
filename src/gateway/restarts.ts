import { BowlineError, messageOf } from '../base/errors.ts';
import { shellLine } from '../core/claude/shellLine.ts';
import { nextLaunch } from '../core/fleet/launching.ts';
import { poisonSentence } from '../core/fleet/poison.ts';
import type { Agent } from '../core/fleet/agent.ts';
import type { Launch, LaunchMode } from '../core/fleet/life.ts';
import type { Notice } from '../core/fleet/state.ts';
import { saveToolOf } from '../core/guard/saveTool.ts';
import { blockedSentence, downgradedSentence, planSentence, verdictText } from '../core/guard/sentences.ts';
import { judgeRestart, type Verdict } from '../core/guard/verdict.ts';
import type { Command } from '../protocol/commands.ts';
import type { RestartPlan } from '../protocol/restartPlan.ts';
import type { ConversationFinder } from './conversationFinder.ts';
import type { LaunchFiles } from './launchFiles.ts';
import type { Clock, FleetPort } from './ports.ts';
import type { ScreenLooks } from './screenLooks.ts';

/** What {@link Restarts} works with. */
export interface RestartsOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
  readonly looks: Pick<ScreenLooks, 'lookAt'>;
  readonly files: Pick<LaunchFiles, 'task' | 'environmentDifference'>;
  readonly finder: Pick<ConversationFinder, 'settle' | 'preview'>;
}

type RestartCommand = Extract<Command, { kind: 'restart' }>;

/** Restarts that somebody asks for, behind the guard. Errors as told in `commandSchema`. */
export class Restarts {
  constructor(private readonly options: RestartsOptions) {}

  async restart(name: string, command: RestartCommand, by: string): Promise<void> {
    const { fleet, clock, finder, looks } = this.options;
    const asked = fleet.state.agents[name];
    if (command.mode === 'resume' && asked !== undefined) await finder.settle(asked);
    if (command.guard === 'enforce') await looks.lookAt(name);
    const agent = fleet.state.agents[name];
    if (agent === undefined || agent.life.kind === 'stopping') {
      throw new BowlineError('not-running', `${name} is being stopped. Wait until it is, then start it.`);
    }
    const now = clock();
    const launch = nextLaunch(agent, command.mode, now);
    const poison = launch.mode === 'resume' ? poisonSentence(agent) : undefined;
    if (poison !== undefined) throw new BowlineError('conversation-poisoned', poison);
    const verdict = this.judge(agent, command.mode);
    if (command.guard === 'bypass') {
      fleet.report({
        at: clock(),
        kind: 'guard bypassed',
        record: {
          at: clock(),
          agent: name,
          action: 'guard bypassed',
          mode: command.mode,
          by,
          verdict: verdict instanceof Error ? `guard error: ${verdict.message}` : verdictText(verdict),
          reason: command.reason ?? '',
        },
      });
    } else if (verdict instanceof Error) {
      this.guardFailed(name, verdict);
    } else if (!verdict.allowed) {
      throw new BowlineError('guard-blocked', blockedSentence(name, verdict), { details: { verdict } });
    } else if (verdict.downgraded !== 'no') {
      this.notice(name, 'guard-downgraded', downgradedSentence(name, verdict));
    }
    const guard = command.guard === 'bypass' ? ({ guard: 'bypassed' } as const) : {};
    await fleet.reportDurably({
      at: now,
      asker: by,
      kind: 'launch requested',
      name,
      launch: { ...launch, cause: 'person', ...guard },
    });
  }

  /** What a restart would do now, without doing it. */
  async plan(name: string, mode: LaunchMode): Promise<RestartPlan> {
    await this.options.looks.lookAt(name);
    const { fleet, clock, files, finder } = this.options;
    const asked = fleet.state.agents[name];
    if (asked === undefined) throw new BowlineError('unknown-agent', `No agent is named "${name}" (any more).`);
    const agent = mode === 'resume' ? await finder.preview(asked) : asked;
    const launch: Launch = { ...nextLaunch(agent, mode, clock()), cause: 'person' };
    const { expectedSessionId: sessionId } = launch;
    const verdict = this.judge(agent, mode);
    const poisoned = launch.mode === 'resume' ? poisonSentence(agent) : undefined;
    const { program, arguments: words, directory } = files.task(agent, launch);
    return {
      agent: name,
      asked: mode,
      mode: launch.mode,
      ...(sessionId !== undefined && { sessionId }),
      ...(poisoned !== undefined && { poisoned }),
      directory,
      command: shellLine([program, ...words]),
      guard:
        verdict instanceof Error
          ? { kind: 'error', detail: verdict.message, setting: fleet.state.settings.guardError ?? 'block' }
          : { kind: 'verdict', ...verdict, sentence: planSentence(name, verdict) },
      environment: await files.environmentDifference(agent, launch),
    };
  }

  /** The guard's view now; an Error when the guard itself fails. */
  private judge(agent: Agent, mode: LaunchMode): Verdict | Error {
    const { fleet, clock } = this.options;
    try {
      const now = clock();
      return judgeRestart(agent, mode, saveToolOf(agent, fleet.state.epoch, now), now);
    } catch (error) {
      return error instanceof Error ? error : new Error(messageOf(error));
    }
  }

  private guardFailed(name: string, error: Error): void {
    if (this.options.fleet.state.settings.guardError === 'allow') {
      const sentence = `${name} was restarted although the guard failed (${error.message}): bowline.guardError allows it.`;
      this.notice(name, 'guard-error', sentence);
      return;
    }
    throw new BowlineError(
      'guard-blocked',
      `${name} was not restarted: guard error (${error.message}). To restart it all the same, bypass the guard.`,
      { cause: error },
    );
  }

  private notice(agent: string, code: string, sentence: string): void {
    const at = this.options.clock();
    const notice: Notice = { at, code, sentence, severity: 'warning', agent };
    this.options.fleet.report({ at, kind: 'noticed', notice });
  }
}
