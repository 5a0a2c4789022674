import type { BindingRecord, UpdateCause } from '../../core/binding/bindingRecord.ts';
import { liveLaunchIds } from '../../core/fleet/agent.ts';
import { agentOf } from '../../core/fleet/state.ts';
import type { Clock, FleetPort } from '../ports.ts';
import type { IdentityFault } from './identity.ts';
import type { SessionRecord } from './sessionFile.ts';
import { sessionDigest } from './sessionStore.ts';
import type { EndpointOf } from './standingStreams.ts';

/** Between two reports of mere proof for one endpoint, and of the same fault, in milliseconds. */
const reportEvery = 5_000;

/** The longest that is kept of what a failing server says, in characters. */
const upstreamWords = 300;

/** How many kinds of fault are remembered for the limit. */
const faultsKept = 1_000;

/** Why another connection to a server is called for; `asker`: the window or script that asked. */
export interface Update {
  readonly why: UpdateCause;
  readonly asker?: string;
}

interface ReportedProof {
  readonly at: number;
  readonly launchId: string;
  readonly epoch: string | undefined;
}

/** Turns what the endpoint sees into facts for the fleet, few enough for a busy agent or a client gone wild. */
export class Ledger {
  private readonly proofs = new Map<string, ReportedProof>();
  private readonly faults = new Map<string, number>();
  private readonly lastFaults = new Map<string, number>();

  constructor(
    private readonly fleet: FleetPort,
    private readonly clock: Clock,
  ) {}

  initialized(session: SessionRecord): void {
    const { client, protocolVersion } = session;
    const subject = this.subject(session);
    this.fleet.report({ ...subject, kind: 'mcp initialized', client: { ...client, protocolVersion } });
  }

  /**
   * Resolves when it is on disk: a client lists its tools once, and after a kill right behind the answer the next run of
   * the gateway would wait for it in vain. Also when the disk refuses it, which the fleet's own writer tells.
   */
  async toolsListed(session: SessionRecord): Promise<void> {
    const written = this.fleet.reportDurably({ ...this.subject(session), kind: 'mcp tools listed' });
    await written.catch(() => undefined);
  }

  /** A request of this session was authenticated. */
  proof(session: SessionRecord): void {
    const now = this.clock();
    const key = keyOf(session.agent, session.server);
    const former = this.proofs.get(key);
    const told =
      former !== undefined &&
      former.launchId === session.launchId &&
      former.epoch === this.fleet.state.epoch?.id &&
      // A proof ends a fault: the first one after it is told at once.
      former.at > (this.lastFaults.get(key) ?? -Infinity) &&
      Math.abs(now - former.at) < reportEvery;
    if (told) return;
    this.fleet.report({ ...this.subject(session), kind: 'mcp proof seen' });
  }

  /** An agent gets these tools under shorter names: with their own each of its turns would fail. Told once. */
  shortened({ agent, server }: EndpointOf, tools: readonly string[]): void {
    const shown = tools.slice(0, 3).map((tool) => tool.slice(0, 100));
    const more = tools.length > shown.length ? ` and ${tools.length - shown.length} more` : '';
    const sentence =
      `${agent} gets tools of "${server}" under shorter names (${shown.join(', ')}${more}): Claude takes at most 64 ` +
      'characters of mcp__SERVER__TOOL. With a shorter name of the server, where it is configured, they keep their own.';
    const code = 'tool-name-shortened';
    const { notices } = this.fleet.state;
    if (notices.some((one) => one.code === code && one.agent === agent && one.sentence === sentence)) return;
    const at = this.clock();
    this.fleet.report({ at, kind: 'noticed', notice: { at, code, sentence, severity: 'warning', agent } });
  }

  /**
   * The server behind the endpoint fails for this session, in these words; undefined: it works, as a request showed that
   * took `roundTripMs`, if that is given. Told where it is news, and where it works also from time to time.
   */
  upstream(session: EndpointOf, reason: string | undefined, roundTripMs?: number): void {
    const { upstream: known, update, goodCall } = this.recordOf(session) ?? {};
    const { agent: name, server, launchId } = session;
    const at = this.clock();
    const subject = { at, name, server, launchId };
    if (reason !== undefined) {
      const detail = reason.slice(0, upstreamWords);
      if (known?.detail === detail && known.epoch === this.fleet.state.epoch?.id) return;
      this.fleet.report({ ...subject, kind: 'upstream failed', detail });
      return;
    }
    const isNews = known !== undefined || update !== undefined;
    const isOld = goodCall === undefined || Math.abs(at - goodCall.at) >= reportEvery;
    if (!isNews && (roundTripMs === undefined || !isOld)) return;
    this.fleet.report({ ...subject, kind: 'upstream answered', ...(roundTripMs !== undefined && { roundTripMs }) });
  }

  /** Another connection to the server behind the endpoint is called for. Resolves when that is on disk, or cannot be. */
  async detached({ agent: name, server, launchId }: EndpointOf, { why, asker }: Update): Promise<void> {
    const asked = asker === undefined ? {} : { asker };
    const subject = { at: this.clock(), ...asked, name, server, launchId };
    await this.fleet.reportDurably({ ...subject, kind: 'upstream detached', why }).catch(() => undefined);
  }

  /** Whether such a connection was called for, and none is verified. */
  isUpdateDue(session: EndpointOf): boolean {
    return this.recordOf(session)?.update !== undefined;
  }

  /** A request was refused. `known`: whether the gateway serves something of this name; other names are not repeated. */
  fault(fault: IdentityFault, server: string, known: 'served' | 'not served'): void {
    const now = this.clock();
    const { attributedTo } = fault;
    const key = JSON.stringify([fault.cause, attributedTo, known === 'served' && server]);
    const former = this.faults.get(key);
    if (former !== undefined && Math.abs(now - former) < reportEvery) return;
    this.faults.delete(key);
    this.faults.set(key, now);
    for (const oldest of [...this.faults.keys()].slice(0, -faultsKept)) this.faults.delete(oldest);
    const agent = attributedTo === undefined ? undefined : this.fleet.state.agents[attributedTo];
    // Without a live launch there is no binding to fault: then the fault is shown for the fleet.
    const bound = known === 'served' && agent !== undefined && liveLaunchIds(agent).length > 0;
    if (bound) this.lastFaults.set(keyOf(agent.name, server), now);
    this.fleet.report({
      at: now,
      kind: 'identity fault',
      cause: fault.cause,
      ...(attributedTo !== undefined && { name: attributedTo }),
      ...(bound && { server }),
      detail: fault.sentence,
    });
  }

  private recordOf({ agent, server, launchId }: EndpointOf): BindingRecord | undefined {
    const record = agentOf(this.fleet.state, agent)?.bindings[server];
    return record?.launchId === launchId ? record : undefined;
  }

  private subject(session: SessionRecord): {
    readonly at: number;
    readonly name: string;
    readonly server: string;
    readonly launchId: string;
    readonly session: string;
  } {
    const at = this.clock();
    const { agent: name, server, launchId } = session;
    this.proofs.set(keyOf(name, server), { at, launchId, epoch: this.fleet.state.epoch?.id });
    return { at, name, server, launchId, session: sessionDigest(session.id) };
  }
}

function keyOf(agent: string, server: string): string {
  return JSON.stringify([agent, server]);
}
