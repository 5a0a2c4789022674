import { delay } from '../base/async.ts';
import { BowlineError, messageOf } from '../base/errors.ts';
import { DisposableObject } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { adoptabilityOf, nameToKeep, proposedName, resumeByHand, type SeenClaude } from '../core/fleet/adoption.ts';
import type { Adoption, Agent } from '../core/fleet/agent.ts';
import { resumeOrFresh } from '../core/fleet/launching.ts';
import { type FleetState, type Notice } from '../core/fleet/state.ts';
import { claudeDirectory } from '../node/claudeDirectory.ts';
import { agentEnvironment, type Environment } from '../node/environment.ts';
import { isErrorWithCode } from '../node/files.ts';
import { isSameProcess } from '../node/processIdentity.ts';
import { seenClaudes } from '../node/seenClaudes.ts';
import type { ForeignRow } from '../protocol/adoption.ts';
import type { Command } from '../protocol/commands.ts';
import { newConfiguration, realDirectory, refuseTaken } from './configureAgent.ts';
import type { Clock, FleetPort } from './ports.ts';

/** What {@link Adoptions} works with. */
export interface AdoptionsOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
  readonly log: Log;
  /** Of this process; tells where Claude keeps its files. */
  readonly environment: Environment;
  /** Path of this fleet's tmux socket. */
  readonly fleetSocket: string;
  /** Milliseconds that a process may take to end, with its SessionEnd hooks. */
  readonly endWithin?: number;
}

const defaultEndWithin = 30_000;
/** In milliseconds. */
const lookEvery = 100;

/**
 * Makes agents of claudes that a person started by hand. The agent is on record with its conversation before anything is
 * asked to end, nothing is started before that process is gone, and no process is ended by force.
 */
export class Adoptions extends DisposableObject {
  private readonly ended = new AbortController();

  constructor(private readonly options: AdoptionsOptions) {
    super();
    this._register({
      dispose: () => {
        this.ended.abort();
      },
    });
  }

  /** Goes on with what a former run of the gateway began. */
  begin(): void {
    for (const { name, adoption } of Object.values(this.options.fleet.state.agents)) {
      if (adoption !== undefined) this.goOn(name, adoption);
    }
  }

  /** What runs besides the agents. Only reads. */
  async list(): Promise<readonly ForeignRow[]> {
    const all = await this.see();
    const { fleet, fleetSocket } = this.options;
    const rows = all.flatMap((process): readonly ForeignRow[] => {
      const found = adoptabilityOf(fleet.state, { process, all, fleetSocket });
      if (found.kind === 'own') return [];
      return [rowOf(fleet.state, process, fleetSocket, found.kind === 'refused' ? found.why : undefined)];
    });
    const order = ({ refused }: ForeignRow): number => (refused === undefined ? 0 : 1);
    return rows.sort((a, b) => order(a) - order(b) || (b.startedAt ?? 0) - (a.startedAt ?? 0));
  }

  /**
   * Resolves when the process was asked to end; the launch follows by itself. `name` is valid and free. Rejects with
   * `launch-refused`, and then nothing was ended.
   */
  async adopt(asked: Extract<Command, { kind: 'adopt' }>, asker: string): Promise<void> {
    const { fleet, clock, fleetSocket, log } = this.options;
    const { name, pid, startTime } = asked;
    const { found, all } = await this.find(asked);
    const kept = nameToKeep(fleet.state, found, fleetSocket);
    if (kept !== undefined && kept !== name) {
      throw refusal(pid, `It lives in the tmux session ${kept} of Bowline. Give the agent that name.`);
    }
    const { sessionId, transcript } = found;
    const configuration = newConfiguration(await realDirectory(found.directory ?? ''), fleet.state.settings);
    this.judge(found, all);
    refuseTaken(fleet.state, name);
    const adopts = { pid, startTime, sessionId, transcriptPath: transcript?.path ?? '' };
    const adoption: Adoption = { pid, startTime, by: asker };
    try {
      await fleet.reportDurably({ at: clock(), asker, kind: 'agent created', name, configuration, adopts });
      // What was true may have changed meanwhile.
      await this.find(asked, name);
      if (!this.isOpen(name, adoption)) throw refusal(pid, 'It was called off.');
      process.kill(pid, 'SIGTERM');
    } catch (error) {
      this.takeBack(name, adoption, messageOf(error));
      throw isErrorWithCode(error, 'EPERM') ? refusal(pid, 'It is of another user. Work with it there.') : error;
    }
    log.info('a process was asked to end for its conversation', { agent: name, pid });
    this.goOn(name, adoption);
  }

  /** The process that a person confirmed, still adoptable. `except`: the agent that is made for it. */
  private async find(
    { pid, startTime, sessionId }: Pick<Extract<Command, { kind: 'adopt' }>, 'pid' | 'startTime' | 'sessionId'>,
    except?: string,
  ): Promise<{ readonly found: SeenClaude; readonly all: readonly SeenClaude[] }> {
    const all = await this.see();
    const found = all.find((one) => one.pid === pid && one.startTime === startTime);
    if (found === undefined) throw refusal(pid, 'It is not there any more. Look again which there are.');
    if (found.sessionId !== sessionId) {
      throw refusal(pid, 'It works on another conversation by now. Look again which there are.');
    }
    this.judge(found, all, except);
    return { found, all };
  }

  private judge(process: SeenClaude, all: readonly SeenClaude[], except?: string): void {
    const { fleet, fleetSocket } = this.options;
    const { agents, ...rest } = fleet.state;
    const others = Object.fromEntries(Object.entries(agents).filter(([name]) => name !== except));
    const judged = adoptabilityOf({ ...rest, agents: others }, { process, all, fleetSocket });
    if (judged.kind === 'own') throw refusal(process.pid, 'It is of an agent already.');
    if (judged.kind === 'refused') throw refusal(process.pid, judged.why);
  }

  private see(): Promise<readonly SeenClaude[]> {
    const { fleet, environment } = this.options;
    const directory = claudeDirectory(agentEnvironment(environment, fleet.state.settings, undefined));
    const processes = Object.values(fleet.state.agents).flatMap((agent) =>
      processesOf(agent).map((pid) => ({ name: agent.name, pid })),
    );
    return directory === undefined ? Promise.resolve([]) : seenClaudes(directory, processes);
  }

  private goOn(name: string, adoption: Adoption): void {
    this.follow(name, adoption).catch((error: unknown) => {
      if (this.ended.signal.aborted) return;
      this.options.log.error('an adoption failed', { agent: name, reason: messageOf(error) });
    });
  }

  /** Waits for the end of the process, then starts the agent. */
  private async follow(name: string, adoption: Adoption): Promise<void> {
    const { fleet, clock, endWithin = defaultEndWithin } = this.options;
    const until = performance.now() + endWithin;
    const first = fleet.state.agents[name];
    let presence = await isSameProcess(adoption);
    while (presence !== 'gone' && performance.now() < until && this.isOpen(name, adoption)) {
      await delay(lookEvery, this.ended.signal);
      presence = await isSameProcess(adoption);
    }
    const { pid, by } = adoption;
    const agent = fleet.state.agents[name];
    if (agent === undefined) {
      if (first !== undefined)
        this.notice(first, 'warning', `Process ${pid} was asked to end for ${name}, which was removed meanwhile.`);
      return;
    }
    if (!this.isOpen(name, adoption)) return;
    if (presence !== 'gone') {
      const detail = `process ${pid} was asked to end and still runs: end it, then use Resume`;
      fleet.report({ at: clock(), kind: 'adoption ended', name, detail });
      const waited = Math.round(endWithin / 1000);
      this.notice(
        agent,
        'error',
        `${name} was not started: process ${pid} was asked to end and still runs after ${waited} s. End it in its terminal, then use Resume on ${name}.`,
      );
      return;
    }
    const at = clock();
    const launch = { ...resumeOrFresh(agent, at), cause: 'person' } as const;
    // Also where the disk refuses by now: what is on record already leads here again.
    fleet.report({ at, asker: by, kind: 'launch requested', name, launch });
    this.notice(agent, 'info', `Process ${pid} has ended, and ${name} goes on with its conversation.`);
  }

  /** Nothing was ended: it is as if nobody had asked. */
  private takeBack(name: string, adoption: Adoption, reason: string): void {
    const { fleet, clock } = this.options;
    if (!this.isOpen(name, adoption)) return;
    fleet.report({ at: clock(), kind: 'adoption ended', name, detail: reason });
    fleet.report({ at: clock(), kind: 'agent removed', name });
  }

  private isOpen(name: string, { pid, startTime }: Adoption): boolean {
    const adoption = this.options.fleet.state.agents[name]?.adoption;
    return adoption?.pid === pid && adoption.startTime === startTime;
  }

  private notice({ name, configuration, session }: Agent, severity: Notice['severity'], what: string): void {
    const { fleet, clock } = this.options;
    const at = clock();
    const sentence = `${what} By hand it goes on so: ${resumeByHand(configuration.directory, session?.id ?? '')}`;
    fleet.report({ at, kind: 'noticed', notice: { at, code: 'adoption', sentence, severity, agent: name } });
  }
}

function refusal(pid: number, why: string): BowlineError {
  return new BowlineError('launch-refused', `Process ${pid} was not adopted, and nothing was ended. ${why}`);
}

function processesOf({ life }: Agent): readonly number[] {
  switch (life.kind) {
    case 'running':
      return [life.running.process.pid];
    case 'launching':
    case 'stopping':
      return [life.ending, 'running' in life ? life.running : undefined].flatMap((one) => one?.process.pid ?? []);
    case 'stopped':
    case 'sleeping':
    case 'blocked':
    case 'dead':
      return [];
  }
}

function rowOf(fleet: FleetState, seen: SeenClaude, fleetSocket: string, refused: string | undefined): ForeignRow {
  const { pid, sessionId, startTime, directory, version, status, startedAt, transcript } = seen;
  return {
    ...{ pid, sessionId },
    name: nameToKeep(fleet, seen, fleetSocket) ?? proposedName(fleet, directory ?? ''),
    ...(startTime !== undefined && { startTime }),
    ...(directory !== undefined && { directory }),
    ...(version !== undefined && { version }),
    ...(status !== undefined && { status }),
    ...(startedAt !== undefined && { startedAt }),
    ...(transcript?.firstPrompt !== undefined && { firstPrompt: transcript.firstPrompt }),
    ...(refused !== undefined && { refused }),
  };
}
