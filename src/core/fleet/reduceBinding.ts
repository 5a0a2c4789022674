import { type Reduction, without } from './agentUpdate.ts';
import type { FleetEvent } from './events.ts';
import { type Agent, currentLaunch, mayUseServer } from './agent.ts';
import type { BindingRecord, ProbeRecord } from '../binding/bindingRecord.ts';
import type { TimelineEntry } from './state.ts';

type BindingEvent =
  | Extract<FleetEvent, { kind: `mcp ${string}` | `probe ${string}` | `upstream ${string}` | 'doubted' }>
  | (Extract<FleetEvent, { kind: 'identity fault' }> & { readonly name: string; readonly server: string });

/** Folds one observation of an endpoint. Observations of an ended launch, or of a server that the agent lacks, change nothing. */
export function reduceBinding(agent: Agent, event: BindingEvent, epoch: string): Reduction {
  const launch = currentLaunch(agent);
  if (launch === undefined) return { agent };
  const isKnown = agent.configuration.servers[event.server] !== undefined || mayUseServer(agent, event.server);
  if (!isKnown) return { agent };
  if ('launchId' in event && event.launchId !== launch.id) return { agent };
  const former = agent.bindings[event.server];
  const record: BindingRecord =
    former?.launchId === launch.id ? former : { launchId: launch.id, stream: { kind: 'closed', since: event.at } };
  const next = fold(record, event, epoch);
  if (next === record) return { agent };
  const told = toldInTimeline(record, event, epoch);
  return {
    agent: { ...agent, bindings: { ...agent.bindings, [event.server]: next } },
    ...(told !== undefined && { timeline: [{ at: event.at, server: event.server, ...told }] }),
  };
}

function fold(record: BindingRecord, event: BindingEvent, epoch: string): BindingRecord {
  const proof = { at: event.at, epoch };
  switch (event.kind) {
    case 'mcp initialized':
      return {
        ...record,
        session: event.session,
        client: event.client,
        initializedAt: event.at,
        proof,
        // A stream of an earlier epoch is not this session's: its own is still to come.
        ...((record.stream.kind === 'closed' || record.stream.epoch !== epoch) && {
          stream: { kind: 'closed', since: event.at },
        }),
      };
    case 'mcp tools listed':
      return { ...record, toolsListedAt: event.at, proof };
    case 'mcp proof seen':
      return { ...record, proof };
    case 'mcp stream opened':
      return { ...record, session: event.session, stream: { kind: 'open', since: event.at, epoch }, proof };
    case 'mcp stream closed':
      return record.stream.kind === 'closed' ? record : { ...record, stream: { kind: 'closed', since: event.at } };
    case 'upstream failed': {
      const { failingSince, detail } = record.upstream?.epoch === epoch ? record.upstream : { failingSince: event.at };
      return detail === event.detail ? record : { ...record, upstream: { failingSince, epoch, detail: event.detail } };
    }
    case 'upstream answered':
      return upstreamAnswered(record, event);
    case 'upstream detached':
      return { ...without(record, 'upstream'), update: { since: event.at, why: event.why } };
    case 'probe answered': {
      const { at, sentAt, roundTripMs } = event;
      const probe: ProbeRecord = { sentAt, epoch, answeredAt: at, roundTripMs, failures: 0 };
      const settled = record.doubt !== undefined && record.doubt.since <= sentAt;
      return { ...(settled ? without(record, 'doubt') : record), probe, proof };
    }
    case 'probe failed': {
      const former = record.probe?.epoch === epoch ? record.probe : undefined;
      const failures = (former?.failures ?? 0) + 1;
      return { ...record, probe: { ...former, sentAt: event.sentAt, epoch, failures } };
    }
    case 'doubted':
      return record.proof === undefined ? record : { ...record, doubt: { since: event.at, cause: event.cause } };
    case 'identity fault':
      return { ...record, fault: { at: event.at, cause: event.cause } };
  }
}

/** It works, and by the connection that it is to be reached by. */
function upstreamAnswered(
  record: BindingRecord,
  { at, roundTripMs }: Extract<BindingEvent, { kind: 'upstream answered' }>,
): BindingRecord {
  if (record.upstream === undefined && record.update === undefined && roundTripMs === undefined) return record;
  const rest = without(without(record, 'upstream'), 'update');
  return roundTripMs === undefined ? rest : { ...rest, goodCall: { at, roundTripMs } };
}

function toldInTimeline(
  record: BindingRecord,
  event: BindingEvent,
  epoch: string,
): Pick<TimelineEntry, 'text' | 'kind'> | undefined {
  switch (event.kind) {
    case 'mcp initialized':
      return { text: `session opened by ${event.client.name} ${event.client.version}` };
    case 'mcp stream opened':
      if (record.session === event.session && record.proof !== undefined && record.proof.epoch !== epoch) {
        return { text: 'adopted: its session goes on after a restart of the gateway', kind: 'heal' };
      }
      return { text: record.stream.kind === 'open' ? 'stream replaced' : 'stream opened' };
    case 'mcp stream closed':
      return { text: 'stream dropped', kind: 'outage' };
    case 'probe failed':
      return { text: 'probe not answered', kind: 'outage' };
    case 'upstream failed':
      return { text: `its server fails: ${event.detail}`, kind: 'outage' };
    case 'upstream answered':
      if (record.update !== undefined) return { text: 'its server is connected anew', kind: 'heal' };
      return record.upstream === undefined ? undefined : { text: 'its server works again', kind: 'heal' };
    case 'upstream detached':
      return {
        text: event.why === 'changed' ? 'its server has another definition' : 'reconnecting its server was asked for',
      };
    case 'doubted':
      return event.cause === 'asked' ? { text: 'verification asked for' } : { text: event.cause, kind: 'epoch' };
    case 'identity fault':
      return { text: event.detail, kind: 'outage' };
    case 'mcp tools listed':
      return record.toolsListedAt === undefined ? { text: 'tools listed' } : undefined;
    case 'mcp proof seen':
    case 'probe answered':
      return undefined;
  }
}
