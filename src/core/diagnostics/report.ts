import type { Agent } from '../fleet/agent.ts';
import type { Launch } from '../fleet/life.ts';
import { plan } from '../fleet/plan.ts';
import { type AgentRow, type Connection, select } from '../fleet/select.ts';
import type { AuditRecord, FleetState } from '../fleet/state.ts';

/** Everything that is known for a report. Texts may hold secrets: what {@link diagnosticsReport} returns is redacted after. */
export interface DiagnosticsInput {
  /** Milliseconds since the epoch, as all times here. */
  readonly now: number;
  readonly connection: Connection;
  /** Where the state comes from, in words. */
  readonly source: string;
  readonly state: FleetState;
  /** Lines of facts under a title, in this order: versions, processes, settings ... */
  readonly facts: readonly { readonly title: string; readonly lines: readonly string[] }[];
  /** The ends of logs, oldest line first. */
  readonly logs: readonly { readonly title: string; readonly text: string }[];
  /** What could not be found out, and why. */
  readonly missing: readonly string[];
}

const recordsShown = 200;

/**
 * One document that lets a stranger understand a fault: what is wrong now, what runs, what was decided and done, what the
 * logs say. Only what helps is chosen from the state: no values of variables, no arguments, no texts of a person.
 */
export function diagnosticsReport(input: DiagnosticsInput): string {
  const { state, connection, now, facts, logs, missing } = input;
  const view = select(state, connection, now);
  const away = connection.kind === 'away';
  const gateway = away
    ? `The gateway is away since ${time(connection.since)}: ${connection.reason}`
    : 'This window is connected to the gateway.';
  const sections = [
    section('Now', [
      gateway,
      `State: ${input.source}`,
      `Status: ${view.status.text === '' ? view.status.detail : view.status.text}`,
      ...view.blackouts.map(({ agents, what, nextStep }) => `Blackout of ${agents.join(', ')}: ${what} ${nextStep}`),
      ...view.agents.filter(isInTrouble).map(({ name, life, detail }) => `${name} is ${life}: ${detail}`),
    ]),
    section('Not found out', missing),
    ...facts.map(({ title, lines }) => section(title, lines)),
    section('Fleet', fleetLines(state)),
    ...view.agents.map((row) => agentSection(state, row, now)),
    section('Planned now', plannedNow(state, now)),
    section(
      'Notices, newest first',
      state.notices.toReversed().map(({ at, severity, code, agent, sentence }) => {
        return `${time(at)} ${severity} ${code}${agent === undefined ? '' : ` ${agent}`}: ${sentence}`;
      }),
    ),
    section('Audit, newest first', state.audit.slice(-recordsShown).toReversed().map(auditLine)),
    section(
      'Timeline, newest first',
      state.timeline
        .slice(-recordsShown)
        .toReversed()
        .map(
          ({ at, agent = 'fleet', server, text }) =>
            `${time(at)} ${agent}${server === undefined ? '' : ` ${server}`}: ${text}`,
        ),
    ),
    ...logs.map(({ title, text }) => `## ${title}\n\n${fenced(text)}`),
  ];
  const introduction =
    `Made ${time(now)}. Keys, tokens, MCP session ids, prompts, contexts and values of variables are left out, also where ` +
    'they stood in a log; home directories are written as ~. All times are UTC.';
  return `${['# Bowline diagnostics', introduction, ...sections].join('\n\n')}\n`;
}

function section(title: string, lines: readonly string[]): string {
  const list = lines.length === 0 ? ['None.'] : lines.map((line) => `- ${line.replaceAll(/\s*\n\s*/g, ' / ')}`);
  return `## ${title}\n\n${list.join('\n')}`;
}

/** A fence that the text cannot close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

function isInTrouble({ life }: AgentRow): boolean {
  return life === 'blocked' || life === 'dead';
}

function fleetLines({ epoch, hands, settings, agents }: FleetState): readonly string[] {
  return [
    `Agents: ${Object.keys(agents).length}`,
    epoch === undefined
      ? 'Gateway run: none yet'
      : `Gateway run: ${epoch.id} since ${time(epoch.startedAt)}, port ${epoch.port}, the one before seen ${time(epoch.previousSeenAt)}`,
    hands === undefined ? 'Hands: nobody' : `Hands: ${hands.holder} since ${time(hands.since)}`,
    `Healing: ${settings.healing}; without a window ${settings.handsWithoutWindow ?? 'on'}; failed resume ${settings.failedResume ?? 'ask'}; guard error ${settings.guardError ?? 'block'}; idle minutes ${settings.idleMinutes ?? 0}; messaging ${settings.messaging ?? 'off'}; memory ${settings.memory ?? 'off'}; MCP servers through the gateway ${settings.mcpServersThroughGateway ?? 'on'}`,
    `MCP servers for every agent: ${names(settings.mcpServers ?? {})}`,
    `Variables for every agent: ${names(settings.environment)}`,
  ];
}

function agentSection(state: FleetState, row: AgentRow, now: number): string {
  const agent = state.agents[row.name];
  if (agent === undefined) return section(`Agent ${row.name}`, []);
  const { configuration, activity, session, savedContext, relaunch, saveRestart } = agent;
  return section(`Agent ${row.name}`, [
    `${row.life}${row.detail === '' ? '' : `: ${row.detail}`}; ${lifeLine(agent)}`,
    `Activity: ${activity.kind} since ${time(activity.since)} (${activity.source}); last work ${time(activity.lastWorkAt)}`,
    `Directory: ${configuration.directory}; added: ${configuration.addedDirectories?.join(', ') ?? 'none'}`,
    `Model ${configuration.model ?? 'as Claude chooses'}; permission mode ${configuration.permissionMode ?? 'as Claude chooses'}; effort ${configuration.effort ?? 'as Claude chooses'}; healing ${configuration.healing ?? 'as the fleet'}`,
    `Variables: ${names(configuration.environment)}; extra arguments: ${flags(configuration.extraArguments)}; own system prompt: ${configuration.systemPrompt === undefined ? 'no' : 'yes'}`,
    session === undefined
      ? 'Conversation: none yet'
      : `Conversation: ${session.id} (${session.cause}) since ${time(session.since)}, last report ${time(session.reportedAt)}, ${session.turnsCompleted} turns, ${session.prompted ? 'prompted' : 'never prompted'}${session.quarantine === undefined ? '' : `, quarantined: ${session.quarantine.error}`}${session.unsaved === undefined ? '' : `, transcript not seen since ${time(session.unsaved.since)}`}`,
    ...agent.lineage.slice(-5).map(({ id, cause, since, givenUp }) => {
      return `Former conversation: ${id} (${cause}) since ${time(since)}${givenUp === undefined ? '' : `, given up: ${givenUp.why}`}`;
    }),
    savedContext === undefined
      ? 'Saved context: none'
      : `Saved context: ${time(savedContext.at)}, ${savedContext.origin}, ${savedContext.bytes} bytes, of launch ${savedContext.launchId}`,
    ...agent.launches.slice(-5).map(({ launch, endedAt, reason, detail }) => {
      return `Ended launch: ${launchWords(launch)}, ended ${time(endedAt)}: ${reason}${detail === undefined ? '' : ` (${detail})`}`;
    }),
    ...row.warnings.map((warning) => `Warning: ${warning}`),
    ...(agent.ownServers ?? []).map(({ name, scope, way, approval }) => {
      return `MCP server ${name}: of ${scope}, ${way}${approval === undefined ? '' : `, project ${approval.state}`}`;
    }),
    ...(relaunch === undefined ? [] : [`To be relaunched (${relaunch.when}): ${relaunch.changed.join(', ')}`]),
    ...(saveRestart === undefined
      ? []
      : [`Save and restart of ${time(saveRestart.requestedAt)}: ${saveRestart.ended?.detail ?? 'under way'}`]),
    ...(agent.prompts ?? []).slice(-10).map(({ id, requestedAt, by, characters, state: { kind } }) => {
      return `Prompt ${id}: ${kind}, ${characters} characters, ${time(requestedAt)}, by ${by}`;
    }),
    ...row.endpoints.flatMap((endpoint) => endpointLines(agent, endpoint, now)),
  ]);
}

function lifeLine({ life }: Agent): string {
  switch (life.kind) {
    case 'stopped':
      return `stopped ${time(life.at)}${life.detail === undefined ? '' : ` (${life.detail})`}`;
    case 'launching':
      return `${launchWords(life.launch)}${life.waits === undefined ? '' : `, waits: ${life.waits}`}`;
    case 'running': {
      const { launch, process, startedAt, confirmedAt, verifiedAt, dialog, unverified } = life.running;
      const seen = `started ${time(startedAt)}, confirmed ${time(confirmedAt)}, verified ${time(verifiedAt)}`;
      const told = unverified === undefined ? '' : `, not verified: ${unverified.detail}`;
      const question = dialog === undefined ? '' : `, dialog ${dialog}`;
      return `${launchWords(launch)}, process ${process.pid} in pane ${process.pane}, ${seen}${told}${question}`;
    }
    case 'stopping':
      return `stopping (${life.reason}), ${launchWords(life.launch)}`;
    case 'sleeping':
      return `sleeping since ${time(life.at)}`;
    case 'blocked':
    case 'dead':
      return `${life.kind} since ${time(life.at)}: ${life.reason}`;
  }
}

function endpointLines(agent: Agent, row: AgentRow['endpoints'][number], now: number): readonly string[] {
  const { server, state, cause, nextStep, client } = row;
  const record = agent.bindings[server];
  const incident = agent.incidents[server];
  const probe = record?.probe;
  return [
    `Endpoint ${server}: ${state}${cause === '' ? '' : `: ${cause} ${nextStep}`}; client ${client ?? 'not seen'}`,
    ...(record === undefined
      ? []
      : [
          `Endpoint ${server}: launch ${record.launchId}, session ${record.session ?? 'none'}, stream ${record.stream.kind} since ${time(record.stream.since)}, proof ${time(record.proof?.at)} in run ${record.proof?.epoch ?? 'none'}, probe ${probe === undefined ? 'none' : `${ago(probe.sentAt, now)}, ${probe.failures} failed, round trip ${probe.roundTripMs ?? 'unknown'} ms`}${record.doubt === undefined ? '' : `, in doubt (${record.doubt.cause}) since ${time(record.doubt.since)}`}${record.fault === undefined ? '' : `, fault: ${record.fault.cause}`}`,
        ]),
    ...(incident === undefined
      ? []
      : [
          `Incident of ${server}: ${incident.cause} since ${time(incident.since)}${incident.end === undefined ? '' : `, ended ${incident.end.kind} (${incident.end.reason}): ${incident.end.detail}`}`,
          ...incident.attempts.slice(-10).map(({ rung, by, startedAt, actedAt, endedAt, outcome, detail }) => {
            return `Attempt at ${server}: ${rung} by ${by}, ${time(startedAt)}, acted ${time(actedAt)}, ended ${time(endedAt)}: ${outcome ?? 'open'}${detail === undefined ? '' : ` (${detail})`}`;
          }),
        ]),
  ];
}

function launchWords({ id, mode, cause, requestedAt, expectedSessionId }: Launch): string {
  const of = expectedSessionId === undefined ? '' : ` of ${expectedSessionId}`;
  return `launch ${id} (${mode}${of}, ${cause}, asked for ${time(requestedAt)})`;
}

function plannedNow(state: FleetState, now: number): readonly string[] {
  const { decisions, effects, wakeAt } = plan(state, now);
  return [
    ...decisions.map(({ kind }) => `Decision: ${kind}`),
    ...effects.map(({ id }) => `Effect: ${id}`),
    `Looks again by itself: ${time(wakeAt)}`,
  ];
}

function auditLine(record: AuditRecord): string {
  const start = `${time(record.at)} ${record.agent}:`;
  if (record.action === 'guard bypassed') {
    return `${start} guard bypassed (${record.mode}) by ${record.by}; it said: ${record.verdict}`;
  }
  const what = record.action === 'deed' ? record.what : `${record.trigger} (${record.from} -> ${record.to})`;
  return `${start} ${what}${record.detail === undefined ? '' : `: ${record.detail}`} [${record.by ?? 'unknown'}]`;
}

function names(variables: Readonly<Record<string, unknown>>): string {
  const list = Object.keys(variables).sort();
  return list.length === 0 ? 'none' : list.join(', ');
}

/** Names of options only: what follows them may be anything. */
function flags(words: readonly string[]): string {
  const list = words.map((word) => /^--?[A-Za-z][\w-]*/.exec(word)?.[0] ?? '(value)');
  return list.length === 0 ? 'none' : list.join(' ');
}

function time(at: number | undefined): string {
  if (at === undefined) return 'never';
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? `at ${at}` : date.toISOString();
}

function ago(at: number, now: number): string {
  return `${Math.round((now - at) / 100) / 10} s ago`;
}
