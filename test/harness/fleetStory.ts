import type { HookFact } from '../../src/core/claude/facts.ts';
import type { FleetEvent } from '../../src/core/fleet/events.ts';
import { plan, type Plan } from '../../src/core/fleet/plan.ts';
import { reduce } from '../../src/core/fleet/reduce.ts';
import type { Agent } from '../../src/core/fleet/agent.ts';
import { emptyFleet, type FleetState } from '../../src/core/fleet/state.ts';
import type { Launch } from '../../src/core/fleet/life.ts';
import type { FleetPort } from '../../src/gateway/ports.ts';

/** `Omit` that keeps the variants of a union apart. */
type Fact = FleetEvent extends infer Variant ? (Variant extends FleetEvent ? Omit<Variant, 'at'> : never) : never;

/** A clock and a fleet for tests of the core: facts go in at the time of the clock. */
export class FleetStory {
  state: FleetState = emptyFleet;
  now = 1_000_000;

  constructor(epoch = 'epoch-1') {
    this.tell({ kind: 'epoch started', epoch: { id: epoch, startedAt: this.now, port: 'kept open' } });
    this.tell({ kind: 'hands changed', holder: 'window' });
  }

  /** Folds a fact in, at the time of the clock or at `at`. */
  tell(fact: Fact, at = this.now): this {
    this.state = reduce(this.state, { ...fact, at });
    return this;
  }

  wait(milliseconds: number): this {
    this.now += milliseconds;
    return this;
  }

  /** What parts of the gateway see of this fleet: what they report is folded in. */
  get port(): FleetPort {
    return this.portDuring(() => Promise.resolve());
  }

  /** The same, with what happens while a fact is brought to disk. */
  portDuring(meanwhile: (event: FleetEvent) => Promise<void>): FleetPort {
    const state = (): FleetState => this.state;
    const report: FleetPort['report'] = (event) => {
      this.tell(event, event.at);
    };
    return {
      get state() {
        return state();
      },
      report,
      reportDurably: (event) => {
        report(event);
        return meanwhile(event);
      },
    };
  }

  agent(name = 'ada'): Agent {
    const agent = this.state.agents[name];
    if (agent === undefined) throw new Error(`no agent ${name}`);
    return agent;
  }

  plan(): Plan {
    return plan(this.state, this.now);
  }

  /** Folds the decisions of the plan until there are none, and returns the plan that is left. */
  settle(): Plan {
    for (let round = 0; round < 20; round += 1) {
      const next = this.plan();
      if (next.decisions.length === 0) return next;
      this.state = next.decisions.reduce(reduce, this.state);
    }
    throw new Error('the plan does not settle');
  }

  create(name = 'ada', servers: Readonly<Record<string, 'on' | 'off'>> = { 'bowline-self': 'on' }): this {
    return this.tell({
      kind: 'agent created',
      name,
      configuration: { directory: `/work/${name}`, extraArguments: [], environment: {}, servers },
    });
  }

  request(name = 'ada', launch: Partial<Launch> = {}): this {
    return this.tell({
      kind: 'launch requested',
      name,
      launch: { id: `${name}.1`, mode: 'fresh', requestedAt: this.now, cause: 'person', ...launch },
    });
  }

  launched(name = 'ada', launchId = `${name}.1`): this {
    return this.tell({
      kind: 'launched',
      name,
      launchId,
      process: { tmuxSession: '$1', pane: '%1', pid: 4711 },
    });
  }

  hook(fact: Partial<HookFact> & Pick<HookFact, 'event'>, name = 'ada', launchId = `${name}.1`, at = this.now): this {
    return this.tell(
      { kind: 'hook reported', name, launchId, hook: { sessionId: 'session-1', transcriptExists: true, ...fact } },
      at,
    );
  }

  /** The client connects: initialize, tools/list, standing stream. */
  connect(name = 'ada', version = '2.1.332', launchId = `${name}.1`, server = 'bowline-self'): this {
    const endpoint = { name, server, launchId, session: 'digest' };
    const client = { name: 'claude-code', version, protocolVersion: '2025-11-25' };
    return this.tell({ ...endpoint, kind: 'mcp initialized', client })
      .tell({ ...endpoint, kind: 'mcp tools listed' })
      .tell({ ...endpoint, kind: 'mcp stream opened' });
  }

  dropStream(name = 'ada', launchId = `${name}.1`): this {
    return this.tell({ kind: 'mcp stream closed', name, server: 'bowline-self', launchId, session: 'digest' });
  }

  /** Answers, or lets fail, the probe that the plan asks for; false when none is planned. */
  probe(outcome: 'answered' | 'failed' = 'answered', name = 'ada'): boolean {
    const effect = this.settle().effects.find((one) => one.kind === 'probe' && one.name === name);
    if (effect?.kind !== 'probe') return false;
    const { server, launchId } = effect;
    const probe = { name, server, launchId, sentAt: this.now };
    if (outcome === 'answered') this.wait(3).tell({ kind: 'probe answered', ...probe, roundTripMs: 3 });
    else this.wait(5_000).tell({ kind: 'probe failed', ...probe });
    return true;
  }

  /** An agent that was started, took its first SessionStart and is bound. */
  static bound(version = '2.1.332'): FleetStory {
    const story = new FleetStory().create().request().launched();
    story.wait(1_000).hook({ event: 'SessionStart', source: 'startup' }).connect('ada', version);
    story.probe();
    story.settle();
    return story;
  }

  /** The gateway ends and comes back after `awayMs`. */
  restartGateway(port: 'kept open' | 'was closed', awayMs: number, epoch = 'epoch-2'): this {
    const previousSeenAt = this.now;
    this.wait(awayMs);
    return this.tell({ kind: 'epoch started', epoch: { id: epoch, startedAt: this.now, previousSeenAt, port } });
  }
}
