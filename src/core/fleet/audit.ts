import type { Agent, PromptRecord } from './agent.ts';
import { alarmsOf } from './alarms.ts';
import { fieldNames } from './configurationChange.ts';
import type { AgentConfiguration } from './configuration.ts';
import type { AdoptedConversation, FleetEvent } from './events.ts';
import type { Launch } from './life.ts';
import { agentOf, type AuditRecord, type FleetState } from './state.ts';

/** In the whole fleet. */
const kept = 500;

/** What a fact did to an agent or tells of it, and who did it. Details may hold what a program said. */
interface Deed {
  readonly what: string;
  readonly detail?: string | undefined;
  readonly by: string;
}

/** The state with what `event`, folded into `before`, means for the audit. */
export function audited(before: FleetState, after: FleetState, event: FleetEvent): FleetState {
  if (event.kind === 'guard bypassed') return withRecords(after, [event.record]);
  if (event.kind === 'difference found') return withDifference(after, event);
  if (after === before) return after;
  if (event.kind === 'restore requested' || event.kind === 'restore ended') return withRestore(before, after, event);
  if (!('name' in event)) return after;
  const { at, name } = event;
  const [former, agent] = [agentOf(before, name), agentOf(after, name)];
  if (former === undefined && agent === undefined) return after;
  const deed = deedOf(event, former, agent, before.hands?.holder ?? 'nobody');
  const from = former?.life.kind ?? 'none';
  const to = agent?.life.kind ?? 'removed';
  const subject = { at, agent: name };
  const told = deed === undefined ? [] : [{ ...subject, action: 'deed', ...shortened(deed) } as const];
  if (from === to) return withRecords(after, told);
  const by = deed?.by ?? 'gateway';
  const detail = deed === undefined ? {} : shortDetail(deed.detail);
  return withRecords(after, [{ ...subject, action: 'life', from, to, trigger: event.kind, by, ...detail }]);
}

/** Told once, however often it is found. */
function withDifference(state: FleetState, event: Extract<FleetEvent, { kind: 'difference found' }>): FleetState {
  const { at, name: agent, detail } = event;
  const what = `difference: ${event.what}`;
  const known = state.audit.findLast((one) => one.agent === agent && one.action === 'deed' && one.what === what);
  if (known?.action === 'deed' && known.detail === detail) return state;
  const by = `hands: ${state.hands?.holder ?? 'nobody'}`;
  return withRecords(state, [{ at, agent, action: 'deed', what, by, ...shortDetail(detail) }]);
}

/** A line for each agent that is asked back, or that a call-off leaves where it is. */
function withRestore(
  before: FleetState,
  after: FleetState,
  event: Extract<FleetEvent, { kind: 'restore requested' | 'restore ended' }>,
): FleetState {
  const { at } = event;
  const lines = (names: readonly string[], what: string, by: string): FleetState => {
    const known = names.filter((name) => agentOf(after, name) !== undefined);
    return withRecords(
      after,
      known.map((agent) => ({ at, agent, action: 'deed', ...shortened({ what, by }) })),
    );
  };
  const { restoration } = after;
  if (event.kind === 'restore ended') {
    return lines(restoration?.ended?.left ?? [], 'restore called off', event.asker ?? 'gateway');
  }
  const former = before.restoration?.id === event.id ? before.restoration.agents : [];
  const asked = restoration?.agents.filter((name) => !former.includes(name)) ?? [];
  return lines(asked, 'restore asked for', event.by);
}

/** Where there are too many, the oldest of the agent that has most go: a restless agent does not displace the others. */
export function withRecords(state: FleetState, records: readonly AuditRecord[]): FleetState {
  if (records.length === 0) return state;
  let audit: readonly AuditRecord[] = [...state.audit, ...records];
  while (audit.length > kept) {
    const most = mostFrequent(audit);
    const oldest = audit.findIndex(({ agent }) => agent === most);
    audit = audit.filter((_record, index) => index !== oldest);
  }
  return { ...state, audit };
}

function mostFrequent(audit: readonly AuditRecord[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { agent } of audit) counts.set(agent, (counts.get(agent) ?? 0) + 1);
  let most: readonly [string, number] | undefined;
  for (const entry of counts) if (most === undefined || entry[1] > most[1]) most = entry;
  return most?.[0];
}

function deedOf(
  event: FleetEvent & { readonly name?: string },
  before: Agent | undefined,
  after: Agent | undefined,
  holder: string,
): Deed | undefined {
  const hands = `hands: ${holder}`;
  switch (event.kind) {
    case 'agent created':
      return { what: 'created', detail: adoptedFrom(event.adopts), by: event.asker ?? 'gateway' };
    case 'adoption ended':
      return { what: 'adoption ended', detail: event.detail, by: event.asker ?? 'gateway' };
    case 'agent configured':
      return configured(before?.configuration, event.configuration, event.asker);
    case 'server approved':
      return { what: `MCP server ${event.server} approved`, detail: event.file, by: event.asker ?? 'gateway' };
    case 'server approval withdrawn':
      return { what: `approval of MCP server ${event.server} withdrawn`, by: event.asker ?? 'gateway' };
    case 'server wants login':
      return { what: `MCP server ${event.server} wants a login and is left to Claude`, by: 'gateway' };
    case 'agent removed':
      return { what: 'removed', by: event.asker ?? 'gateway' };
    case 'launch requested':
      return launchRequested(event.launch, event.asker);
    case 'stop requested': {
      const detail = event.then === 'remove' ? 'to be removed' : event.reason;
      return { what: 'stop requested', detail, by: event.asker ?? `rule: ${event.reason}` };
    }
    case 'launched':
      return { what: 'process started', detail: `process ${event.process.pid}`, by: hands };
    case 'launch failed':
      return { what: 'not started', detail: event.sentence, by: hands };
    case 'process ended':
      return { what: 'process ended', detail: event.exit.detail, by: hands };
    case 'sleep put off':
      return { what: 'not put to sleep', detail: event.detail, by: hands };
    case 'launch verified':
      return { what: 'launch verified', by: 'gateway' };
    case 'launch unverified':
      return { what: 'launch not verified', detail: event.detail, by: 'gateway' };
    case 'resume failed':
      return { what: 'resume failed', detail: event.detail, by: 'gateway' };
    case 'conversation released':
      return { what: 'goes on in its poisoned conversation', by: event.by };
    case 'conversation found':
      return { what: 'conversation found among the transcripts', detail: event.sessionId, by: 'gateway' };
    case 'interrupt requested':
      return { what: 'interrupt asked for', by: event.request.by };
    case 'interrupt ended':
      return { what: `interrupt: ${event.outcome}`, detail: event.detail, by: hands };
    case 'prompt requested':
      return { what: promptName(event.prompt), by: event.prompt.by };
    case 'prompt ended': {
      const prompt = after?.prompts?.find(({ id }) => id === event.promptId);
      if (prompt === undefined) return undefined;
      return { what: `${promptName(prompt)}: ${event.outcome}`, detail: event.detail, by: 'gateway' };
    }
    case 'save restart requested':
      return { what: `asked to save, then ${event.request.mode} restart`, by: 'gateway' };
    case 'save restart ended':
      return { what: `after its save ${event.outcome}`, detail: event.detail, by: 'gateway' };
    case 'context saved':
      return { what: `context saved (${event.context.origin})`, by: 'agent' };
    case 'incident opened':
      return { what: `${event.server} lost`, detail: event.cause, by: 'gateway' };
    case 'incident reopened':
      return { what: `healing of ${event.server} asked for`, by: event.asker ?? 'gateway' };
    case 'incident closed':
      return {
        what: event.outcome === 'bound' ? `${event.server} bound again` : `${event.server} over`,
        by: 'gateway',
      };
    case 'incident ended':
      return {
        what: `healing of ${event.server} ended (${event.end.reason})`,
        detail: event.end.detail,
        by: event.asker ?? 'rule: healing',
      };
    case 'rung started': {
      const by = event.by === 'policy' ? 'rule: healing' : (event.asker ?? 'a person');
      return { what: `${event.rung} of ${event.server} started`, by };
    }
    case 'rung ended': {
      const attempts = after?.incidents[event.server]?.attempts ?? [];
      const rung = attempts.find(({ id }) => id === event.attemptId)?.rung ?? 'healing';
      return { what: `${rung} of ${event.server} ${event.outcome}`, detail: event.detail, by: 'gateway' };
    }
    case 'upstream detached': {
      const { server, why, asker } = event;
      if (why === 'changed') return { what: `MCP server ${server} has another definition`, by: 'gateway' };
      return { what: `reconnect of MCP server ${server} asked for`, by: asker ?? 'gateway' };
    }
    case 'upstream answered': {
      if (before?.bindings[event.server]?.update === undefined) return undefined;
      const { server, roundTripMs } = event;
      const detail = roundTripMs === undefined ? undefined : `answered in ${Math.round(roundTripMs)} ms`;
      return { what: `MCP server ${server} connected anew`, detail, by: 'gateway' };
    }
    case 'upstream failed': {
      // Once for an update, whatever it fails by later.
      const record = before?.bindings[event.server];
      if (record?.update === undefined || record.upstream !== undefined) return undefined;
      return { what: `MCP server ${event.server} not connected`, detail: event.detail, by: 'gateway' };
    }
    case 'identity fault':
      // A client that asks again and again is told once.
      if (before?.bindings[event.server ?? '']?.fault?.cause === event.cause) return undefined;
      return { what: `identity fault: ${event.cause}`, detail: event.detail, by: 'gateway' };
    case 'hook reported':
      return found(before, after, 'hook');
    case 'transcript seen':
      return found(before, after, 'gateway');
    case 'launch doubled':
      return found(before, after, 'gateway');
    case 'conversation shared':
    case 'program changed':
    case 'hooks checked':
      return found(before, after, hands);
    case 'epoch started':
    case 'host resumed':
    case 'settings changed':
    case 'own servers read':
    case 'hands changed':
    case 'noticed':
    case 'guard bypassed':
    case 'difference found':
    case 'reconcile requested':
    case 'reconciled':
    case 'restore requested':
    case 'restore ended':
    case 'look requested':
    case 'screen looked at':
    case 'screen read':
    case 'interrupt pressed':
    case 'launch waits':
    case 'activity observed':
    case 'prompt taken':
    case 'prompt waits':
    case 'prompt typed':
    case 'rung acted':
    case 'doubted':
    case 'mcp initialized':
    case 'mcp tools listed':
    case 'mcp proof seen':
    case 'mcp stream opened':
    case 'mcp stream closed':
    case 'probe answered':
    case 'probe failed':
      return undefined;
  }
}

function adoptedFrom(adopts: AdoptedConversation | undefined): string | undefined {
  return adopts && `takes over conversation ${adopts.sessionId}; its process ${adopts.pid} is asked to end`;
}

/** Rules by the cause of a launch that nobody asked for at that moment. */
const launchRules: Readonly<Record<Launch['cause'], string>> = {
  person: 'rule: restart after its save',
  healing: 'rule: healing',
  wake: 'rule: woken by a prompt',
  configuration: 'rule: configuration changed',
  restore: 'rule: restore',
};

function launchRequested({ mode, cause, expectedSessionId }: Launch, asker: string | undefined): Deed {
  const detail = expectedSessionId === undefined ? mode : `${mode} ${expectedSessionId}`;
  return { what: 'launch requested', detail, by: asker ?? launchRules[cause] };
}

function configured(
  before: AgentConfiguration | undefined,
  after: AgentConfiguration,
  asker: string | undefined,
): Deed {
  const fields = Object.keys(fieldNames).filter((field): field is keyof AgentConfiguration => field in fieldNames);
  const changed = fields.filter((field) => JSON.stringify(before?.[field]) !== JSON.stringify(after[field]));
  return {
    what: 'configuration changed',
    detail: changed.map((field) => fieldNames[field]).join(', '),
    by: asker ?? 'gateway',
  };
}

/** What changed by itself: its conversation, the receipt of a prompt, what is to be warned of. */
function found(before: Agent | undefined, after: Agent | undefined, by: string): Deed | undefined {
  if (before === undefined || after === undefined) return undefined;
  const { session } = after;
  if (session !== undefined && session.id !== before.session?.id) {
    return { what: `conversation began (${session.cause})`, detail: session.id, by };
  }
  if (session?.quarantine !== undefined && before.session?.quarantine === undefined) {
    return { what: 'conversation quarantined', detail: session.quarantine.error, by };
  }
  const known = new Set(alarmsOf(before).map(({ code }) => code));
  const alarm = alarmsOf(after).find(({ code }) => !known.has(code));
  if (alarm !== undefined) return { what: alarm.code, detail: alarm.sentence, by };
  const received = after.prompts?.find(({ id, state }) => {
    return state.kind === 'received' && before.prompts?.find((one) => one.id === id)?.state.kind !== 'received';
  });
  return received === undefined ? undefined : { what: `${promptName(received)}: received`, by };
}

function promptName({ id, characters }: Pick<PromptRecord, 'id' | 'characters'>): string {
  return `prompt ${id.slice(0, 8)} of ${characters} characters`;
}

function shortened({ what, detail, by }: Deed): {
  readonly what: string;
  readonly detail?: string;
  readonly by: string;
} {
  return { what: what.slice(0, 200), ...shortDetail(detail), by: by.slice(0, 200) };
}

function shortDetail(detail: string | undefined): { readonly detail?: string } {
  return detail === undefined || detail === '' ? {} : { detail: detail.slice(0, 1_000) };
}
