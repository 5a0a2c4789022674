import { causeText } from '../../src/core/binding/causes.ts';
import { bindingHealth, type Health } from '../../src/core/binding/health.ts';
import type { Effect } from '../../src/core/fleet/effects.ts';
import type { FleetEvent, ProcessExit } from '../../src/core/fleet/events.ts';
import { plan as planFleet, type Plan } from '../../src/core/fleet/plan.ts';
import { reduce as reduceFleet } from '../../src/core/fleet/reduce.ts';
import { type Agent, enabledServers, isUnwanted, knownLaunchIds, liveLaunchIds } from '../../src/core/fleet/agent.ts';
import { agentOf, emptyFleet, type FleetState } from '../../src/core/fleet/state.ts';
import type { Launch } from '../../src/core/fleet/life.ts';
import { saveTool } from '../../src/core/guard/saveTool.ts';
import { judgeRestart } from '../../src/core/guard/verdict.ts';
import { healingTimes } from '../../src/core/healing/ladder.ts';
import { ruleOfBlackouts, ruleOfDecisions, ruleOfEffects, ruleOfLaunches } from './fleetWorldRules.ts';

/** `Omit` that keeps the variants of a union apart. */
export type Fact = FleetEvent extends infer Variant
  ? Variant extends FleetEvent
    ? Omit<Variant, 'at'>
    : never
  : never;

/** What a simulated process does by itself. */
export interface Temper {
  /** Whether it tells its SessionStart; `forgetful`: it does, but ends at once where it is to resume a conversation. */
  readonly speech: 'tells' | 'silent' | 'forgetful';
  /** `shy`: connects only when told to reconnect. */
  readonly ears: 'connects' | 'shy' | 'deaf';
}

/** A process as tmux has it. A dead one stays as a pane until the hands take it away. */
export interface SimulatedProcess {
  readonly name: string;
  readonly launchId: string;
  readonly temper: Temper;
  /** The endpoints that it was launched with. */
  readonly servers: readonly string[];
  alive: boolean;
  exit: ProcessExit;
  session: string;
  told: boolean;
  connected: boolean;
}

/** The brain under test: a broken one shows that the rules below are watched. */
export interface Brain {
  readonly reduce: typeof reduceFleet;
  readonly plan: typeof planFleet;
}

export const theBrain: Brain = { reduce: reduceFleet, plan: planFleet };

const roundsAtMost = 50;
const hour = 3600_000;
const startedAt = 1_000_000;

/** A fleet, its processes and its clock. Every fact that goes in and every plan that comes out is checked against the rules. */
export class FleetWorld {
  state: FleetState = emptyFleet;
  now = startedAt;
  processes: SimulatedProcess[] = [];
  tasks: readonly Effect[] = [];
  wakeAt: number | undefined;
  /** What happened, for the reader of a counterexample. */
  private log: (string | { readonly event: FleetEvent; readonly now: number; readonly by: string })[] = [];
  /** What was reported, to be reported again. */
  reports: FleetEvent[] = [];
  private seen = new Set<string>();
  private readonly askedFresh = new Set<string>();
  private readonly givenUp = new Set<string>();
  /** When a person last asked for healing: what was tried before does not count. */
  private readonly askedHealing = new Map<string, number>();
  private healed: readonly { readonly name: string; readonly at: number; readonly launchId: string }[] = [];

  constructor(private readonly brain: Brain) {
    this.tell({ kind: 'epoch started', epoch: { id: 'epoch-1', startedAt: this.now, port: 'kept open' } });
    this.tell({ kind: 'hands changed', holder: 'window-1' });
  }

  /** The same world in the same moment; what happens in one does not happen in the other. */
  copy(): FleetWorld {
    const world = new FleetWorld(this.brain);
    world.state = this.state;
    world.now = this.now;
    world.processes = this.processes.map((process) => ({ ...process }));
    world.tasks = this.tasks;
    world.wakeAt = this.wakeAt;
    world.log = [...this.log];
    world.reports = [...this.reports];
    world.seen = new Set(this.seen);
    return world;
  }

  agent(name: string): Agent | undefined {
    return agentOf(this.state, name);
  }

  healths(agent: Agent): readonly Health[] {
    return enabledServers(agent).map((server) => bindingHealth(agent, server, this.state.epoch, this.now));
  }

  /** Folds a fact in, and then everything that the fleet decides because of it. */
  tell(fact: Fact, at = this.now): void {
    const event: FleetEvent = { ...fact, at };
    this.reports.push(event);
    this.fold(event, '');
    this.settle();
  }

  /** A person asks for a launch without the conversation, and the guard let it through or was bypassed. */
  allowFresh(launch: Launch): void {
    this.askedFresh.add(launch.id);
  }

  wait(milliseconds: number): void {
    this.now += milliseconds;
    this.settle();
  }

  /** What is later than now was never. */
  setClockBack(milliseconds: number): void {
    this.now = Math.max(startedAt, this.now - milliseconds);
    this.healed = this.healed.map((one) => ({ ...one, at: Math.min(one.at, this.now - 1) }));
    this.note(`the clock is set back to ${this.now - startedAt}`);
  }

  settle(): void {
    for (let round = 0; round < roundsAtMost; round += 1) {
      const before = this.state;
      const plan = this.brain.plan(before, this.now);
      for (const decision of plan.decisions) {
        this.holds(ruleOfDecisions(before, decision, this.now));
        this.fold(decision, 'decides: ');
      }
      if (this.state === before) {
        if (plan.decisions.length > 0) this.broken(`a decision changed nothing: ${plan.decisions[0]?.kind ?? ''}`);
        this.take(plan);
        return;
      }
    }
    this.broken('the plan does not settle');
  }

  /** A rule that is broken in words; undefined: none is. */
  private holds(rule: string | undefined): void {
    if (rule !== undefined) this.broken(rule);
  }

  broken(rule: string): never {
    const lines = this.log.map((entry) => (typeof entry === 'string' ? `         (${entry})` : briefly(entry)));
    throw new Error([rule, ...lines].join('\n'));
  }

  /** For the reader of a counterexample. */
  note(text: string): void {
    this.log.push(text);
  }

  private isLive(name: string, launchId: string): boolean {
    const agent = this.agent(name);
    return agent !== undefined && liveLaunchIds(agent).includes(launchId);
  }

  /** The rule that a launch, a resume by healing above all, must obey to be asked for. */
  private requested(before: FleetState, name: string, launch: Launch): void {
    const agent = before.agents[name];
    if (agent === undefined) return;
    if (this.seen.has(launch.id)) this.broken(`launch id used twice: ${launch.id}`);
    this.seen.add(launch.id);
    const { session } = agent;
    if (launch.mode === 'resume') {
      if (launch.expectedSessionId === undefined) this.broken('a resume without a conversation');
      if (launch.expectedSessionId === session?.id && session.quarantine !== undefined) {
        this.broken(`${name} was resumed in a conversation in which each turn fails`);
      }
    } else if (session?.prompted === true && !this.mayBeFresh(before, agent, launch)) {
      this.broken(`${name} was started fresh without permission`);
    }
    if (launch.mode === 'fresh' && session !== undefined) this.givenUp.add(session.id);
    if (launch.cause !== 'healing') return;
    const causes = enabledServers(agent)
      .map((server) => bindingHealth(agent, server, before.epoch, this.now))
      .flatMap((health) => (health.state === 'unbound' ? [health.cause] : []));
    if (agent.life.kind === 'running' && !causes.some((cause) => causeText(cause).mend === 'reconnect')) {
      this.broken(`${name} was restarted by healing though nothing that a restart mends is unbound`);
    }
    const asked = this.askedHealing.get(name) ?? 0;
    const own = this.healed.filter((one) => one.name === name && this.now - one.at < hour && one.at >= asked);
    if (own.length >= healingTimes.restartsPerHour) this.broken(`${name} was restarted by healing again and again`);
    const latest = this.healed.findLast((one) => before.agents[one.name] !== undefined);
    if (latest !== undefined && this.now < latest.at + healingTimes.restartEvery) {
      this.broken('two restarts by healing come too close');
    }
    this.healed = [...this.healed, { name, at: this.now, launchId: launch.id }];
  }

  private mayBeFresh(before: FleetState, agent: Agent, launch: Launch): boolean {
    if (this.askedFresh.has(launch.id)) return true;
    if (agent.session !== undefined && this.givenUp.has(agent.session.id)) return true;
    if (launch.cause === 'restore') return false;
    if (launch.cause === 'person') {
      const { saveRestart } = agent;
      return saveRestart?.mode === 'fresh' && saveRestart.ended?.outcome === 'restarted';
    }
    const { life, configuration } = agent;
    if (life.kind === 'blocked' && life.reason === 'resume failed') {
      return (configuration.failedResume ?? before.settings.failedResume) === 'fresh';
    }
    const policy = configuration.healing ?? before.settings.healing;
    const self = bindingHealth(agent, 'bowline-self', before.epoch, this.now);
    const verdict = judgeRestart(agent, 'fresh', saveTool(self.state), this.now);
    const isAsked = this.askedHealing.has(agent.name);
    return (policy === 'auto' || isAsked) && verdict.allowed && verdict.downgraded === 'no';
  }

  private fold(event: FleetEvent, by: string): void {
    const before = this.state;
    this.log.push({ event, now: this.now, by });
    this.state = this.brain.reduce(before, event);
    if (event.kind === 'launch failed' && event.code === 'guard-blocked') {
      // Nothing was ended for it.
      this.healed = this.healed.filter(({ launchId }) => launchId !== event.launchId);
    }
    if (event.kind === 'incident reopened') this.askedHealing.set(event.name, this.now);
    if (this.state.agents === before.agents) return;
    if (event.kind === 'launch requested' && this.isLive(event.name, event.launch.id)) {
      this.requested(before, event.name, event.launch);
    }
    for (const name of new Set([...Object.keys(before.agents), ...Object.keys(this.state.agents)])) {
      const [former, agent] = [before.agents[name], this.state.agents[name]];
      if (former === agent || former === undefined) continue;
      if (agent === undefined) this.healed = this.healed.filter((one) => one.name !== name);
      this.holds(ruleOfLaunches(former, agent, this.processes));
    }
  }

  private take(plan: Plan): void {
    this.tasks = plan.effects;
    this.wakeAt = plan.wakeAt;
    const ids = plan.effects.map(({ id }) => id);
    if (new Set(ids).size < ids.length) this.broken(`one effect twice: ${ids.join()}`);
    for (const effect of plan.effects) this.holds(ruleOfEffects(this.state, effect));
    for (const agent of Object.values(this.state.agents)) {
      const lives = plan.effects.filter(
        ({ name, kind }) => name === agent.name && (kind === 'launch' || kind === 'end'),
      );
      if (lives.length > 1) this.broken(`${agent.name} is to be launched and ended at once`);
      this.holds(ruleOfBlackouts(this.state, agent, this.healths(agent), this.now));
    }
  }

  // The hands, as they work on tmux

  /** Ends what the record knows of this agent, as the hands do before a launch and for an end. */
  endProcesses(name: string): void {
    const agent = this.agent(name);
    const known = agent === undefined ? [] : knownLaunchIds(agent);
    for (const process of this.processes) {
      if (process.name === name && known.includes(process.launchId)) process.alive = false;
    }
    this.processes = this.processes.filter((process) => process.name !== name || process.alive);
  }

  startProcess(task: Extract<Effect, { kind: 'launch' }>, temper: Temper): void {
    const { name, launch } = task;
    this.processes.push({
      name,
      launchId: launch.id,
      temper,
      servers: Object.entries(this.agent(name)?.configuration.servers ?? {}).flatMap(([server, state]) => {
        return state === 'on' ? [server] : [];
      }),
      alive: temper.speech !== 'forgetful' || launch.mode === 'fresh',
      exit: { how: 'exited', status: 1, reading: 'conversation not found', detail: 'No conversation found' },
      session: launch.expectedSessionId ?? `session-of-${launch.id}`,
      told: false,
      connected: false,
    });
    this.checkProcesses();
    this.note(`a process of ${launch.id} starts: ${temper.speech}, ${temper.ears}`);
  }

  checkProcesses(): void {
    const names = new Set(this.processes.map(({ name }) => name));
    for (const name of names) {
      const alive = this.processes.filter((process) => process.name === name && process.alive);
      if (alive.length > 1) this.broken(`two processes for ${name}: ${alive.map(({ launchId }) => launchId).join()}`);
    }
  }

  processOf(launchId: string): SimulatedProcess | undefined {
    return this.processes.find((process) => process.launchId === launchId);
  }

  /** Whether these hands may still act: the task is wanted, and the hands are lent to somebody. */
  isWanted(task: Effect): boolean {
    return this.state.hands !== undefined && this.tasks.some(({ id }) => id === task.id);
  }

  /** The hands end what nobody wants, and tell of running agents whose process is gone. */
  observe(): void {
    if (this.state.hands === undefined) return;
    for (const process of this.processes) {
      const agent = this.agent(process.name);
      if (agent !== undefined && isUnwanted(agent, process.launchId)) process.alive = false;
    }
    for (const agent of Object.values(this.state.agents)) {
      if (agent.life.kind !== 'running') continue;
      const { id } = agent.life.running.launch;
      const process = this.processOf(id);
      if (process?.alive === true) continue;
      const exit = process?.exit ?? { how: 'gone', reading: 'other', detail: 'its tmux pane was closed' };
      this.tell({ kind: 'process ended', name: agent.name, launchId: id, exit });
    }
  }
}

function briefly({
  event,
  now,
  by,
}: {
  readonly event: FleetEvent;
  readonly now: number;
  readonly by: string;
}): string {
  const { at, kind, ...rest } = event;
  const text = JSON.stringify(rest);
  const late = at === now ? '' : ` (of ${at - now} ms)`;
  return `${String(now - startedAt).padStart(8)} ${by}${kind}${late} ${text.length > 240 ? `${text.slice(0, 240)}...` : text}`;
}
