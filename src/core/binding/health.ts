import { dialsAgainWhenCalled } from '../claude/version.ts';
import { type Agent, enabledServers, runningLaunch } from '../fleet/agent.ts';
import type { BindingRecord, DoubtCause, IdentityFaultCause, UpdateCause } from './bindingRecord.ts';
import type { Epoch } from '../fleet/state.ts';
import type { RunningLaunch } from '../fleet/life.ts';
import { bindingTimes as times } from './times.ts';

/** Health of one (agent, endpoint) at one time. `until` is when it would change without another event. */
export type Health =
  | { readonly state: 'off' }
  | { readonly state: 'pending'; readonly until: number }
  | { readonly state: 'bound' }
  /** Bound, but the MCP server behind the endpoint fails, or was updated, which nothing has verified since. */
  | { readonly state: 'degraded'; readonly detail: string; readonly since: number; readonly update?: UpdateCause }
  /** Bound, and the connection to the server behind the endpoint is made anew. */
  | { readonly state: 'degraded'; readonly update: UpdateCause; readonly since: number; readonly until: number }
  | { readonly state: 'suspect'; readonly cause: DoubtCause; readonly until: number }
  | { readonly state: 'unbound'; readonly cause: UnboundCause }
  | { readonly state: 'not checkable'; readonly lastSeenAt: number };

export type UnboundCause =
  | IdentityFaultCause
  | 'trust dialog'
  | 'approval dialog'
  | 'gateway was away'
  | 'client gave up'
  | 'tools never listed'
  | 'never connected';

/** Derives the health of `server` as `agent` sees it. Needs no memory of its own: the same inputs give the same answer. */
export function bindingHealth(agent: Agent, server: string, epoch: Epoch | undefined, now: number): Health {
  if (!enabledServers(agent).includes(server)) return { state: 'off' };
  if (agent.life.kind === 'launching') {
    return { state: 'pending', until: agent.life.launch.requestedAt + times.graceAfterProcessStart };
  }
  const running = runningLaunch(agent);
  if (running === undefined || epoch === undefined) return { state: 'off' };
  const record = recordOf(agent, server, running);
  const fault = record?.fault;
  if (fault !== undefined && fault.at >= (record?.proof?.at ?? 0)) return { state: 'unbound', cause: fault.cause };
  if (record?.proof === undefined || record.toolsListedAt === undefined) return unproven(running, record, now);
  return record.stream.kind === 'open' && record.stream.epoch === epoch.id
    ? withStream(record, epoch, now)
    : withoutStream(record, epoch, now);
}

/** Whether the client has its endpoint, or gets it with its next call: nothing is to be healed. */
export function isBound({ state }: { readonly state: Health['state'] | 'gateway down' }): boolean {
  return state === 'bound' || state === 'degraded' || state === 'not checkable';
}

/** How far the new connection is that is called for to the server behind the endpoint. Undefined: it is verified, or none is. */
export function updateState(record: BindingRecord, epoch: Epoch, now: number): 'verifying' | 'unverified' | undefined {
  const { update } = record;
  if (update === undefined) return undefined;
  const isOver = failureIn(record, epoch) !== undefined || now >= update.since + times.updateVerifiedWithin;
  return isOver ? 'unverified' : 'verifying';
}

/** Whether the connection to the server behind the endpoint is being made anew. */
export function isBeingUpdated(health: Health): boolean {
  return health.state === 'degraded' && 'until' in health;
}

/** Whether the gateway may end this session so that an old client dials anew at its next call (measured, claude 2.1.160). */
export function streamGoneForGood(record: BindingRecord, epoch: Epoch, now: number): boolean {
  if (record.client?.name !== 'claude-code' || !isOldClient(record)) return false;
  if (record.stream.kind === 'open' && record.stream.epoch === epoch.id) return false;
  return now >= closedSince(record, epoch).settled;
}

function recordOf(agent: Agent, server: string, running: RunningLaunch): BindingRecord | undefined {
  const record = agent.bindings[server];
  return record?.launchId === running.launch.id ? record : undefined;
}

function unproven(running: RunningLaunch, record: BindingRecord | undefined, now: number): Health {
  const until =
    running.confirmedAt === undefined
      ? running.startedAt + times.graceAfterProcessStart
      : running.confirmedAt + times.graceAfterSessionStart;
  if (now < until) return { state: 'pending', until };
  if (running.dialog === 'trust') return { state: 'unbound', cause: 'trust dialog' };
  if (running.dialog === 'mcp-approval') return { state: 'unbound', cause: 'approval dialog' };
  return { state: 'unbound', cause: record?.initializedAt === undefined ? 'never connected' : 'tools never listed' };
}

/** The probes that decide whether a client is gone, one after the other. */
const probesEndWithin = times.probeLimit * times.probeFailures + 1_000;

function withStream(record: BindingRecord, epoch: Epoch, now: number): Health {
  const probe = record.probe?.epoch === epoch.id ? record.probe : undefined;
  if (probe !== undefined && probe.failures >= times.probeFailures)
    return { state: 'unbound', cause: 'client gave up' };
  const openedAt = record.stream.since;
  const doubtSince = Math.max(openedAt, record.doubt?.since ?? 0);
  const cause = record.doubt?.cause ?? 'stream dropped';
  if (record.doubt !== undefined || (probe?.answeredAt ?? 0) < openedAt) {
    const until = doubtSince + probesEndWithin;
    return now < until ? { state: 'suspect', cause, until } : { state: 'unbound', cause: 'client gave up' };
  }
  if (probe !== undefined && probe.failures > 0) {
    // The next one is sent when this one has failed.
    return { state: 'suspect', cause: 'probe late', until: probe.sentAt + probesEndWithin };
  }
  return withUpstream(record, epoch, now);
}

function withUpstream(record: BindingRecord, epoch: Epoch, now: number): Health {
  const { update } = record;
  const failing = failureIn(record, epoch);
  if (update === undefined) {
    return failing === undefined
      ? { state: 'bound' }
      : { state: 'degraded', detail: failing.detail, since: failing.failingSince };
  }
  const { why, since } = update;
  const until = since + times.updateVerifiedWithin;
  if (updateState(record, epoch, now) === 'verifying') return { state: 'degraded', update: why, since, until };
  return { state: 'degraded', update: why, detail: failing?.detail ?? 'nothing has answered yet', since };
}

function failureIn({ upstream }: BindingRecord, epoch: Epoch): BindingRecord['upstream'] {
  return upstream?.epoch === epoch.id ? upstream : undefined;
}

function withoutStream(record: BindingRecord, epoch: Epoch, now: number): Health {
  const { since, settled, cause } = closedSince(record, epoch);
  if (now < settled) return { state: 'suspect', cause, until: settled };
  if (isOldClient(record)) return { state: 'not checkable', lastSeenAt: record.proof?.at ?? since };
  return { state: 'unbound', cause: cause === 'epoch changed' ? 'gateway was away' : 'client gave up' };
}

/** When the stream went, and from when on its absence is final. */
function closedSince(
  record: BindingRecord,
  epoch: Epoch,
): { readonly since: number; readonly settled: number; readonly cause: 'epoch changed' | 'stream dropped' } {
  const patience = isOldClient(record) ? times.olderStreamGoneAfter : times.givesUpAfter;
  if (record.stream.kind === 'closed' && record.stream.since >= epoch.startedAt) {
    const fresh = record.initializedAt !== undefined && record.initializedAt >= record.stream.since;
    const limit = fresh ? times.streamAfterInitialize : patience;
    return { since: record.stream.since, settled: record.stream.since + limit, cause: 'stream dropped' };
  }
  // The stream belonged to an earlier run of the gateway. Where the port stayed open the client waits in the backlog.
  const since = epoch.port === 'kept open' ? epoch.startedAt : (epoch.previousSeenAt ?? epoch.startedAt);
  const lastTry = since + patience;
  const wasOver = lastTry + times.signOfLifeEvery <= epoch.startedAt;
  const settled = wasOver ? epoch.startedAt : Math.max(lastTry, epoch.startedAt + times.returnAfterClosedPort);
  return { since, settled, cause: 'epoch changed' };
}

function isOldClient(record: BindingRecord): boolean {
  return record.client?.name !== 'claude-code' || dialsAgainWhenCalled(record.client.version);
}
