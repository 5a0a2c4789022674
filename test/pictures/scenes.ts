import type { AgentRow, EndpointRow, FleetView } from '../../src/core/fleet/select.ts';
import type { TimelineEntry } from '../../src/core/fleet/state.ts';
import type { HostToWebviewMessage, ProbeSample } from '../../src/protocol/webview.ts';
import { agent, blackout, endpoint, fleet, noon, unbound } from '../unit/webview/fleetViews.ts';

/** A state of the Binding Health page that pictures are made of. */
export interface Scene {
  readonly name: string;
  /** Absent: the page has not heard of its window yet. */
  readonly view?: FleetView;
  readonly told?: Pick<HostToWebviewMessage, 'opening' | 'probes'>;
  /** What an earlier page left. */
  readonly state?: object;
}

const servers = [
  'bowline-self',
  'bowline-messaging',
  'bowline-memory',
  'github',
  'chrome-devtools',
  'postgres',
  'sentry',
  'linear',
];
const names = ['ada', 'bo', 'carla', 'docs-writer', 'e2e-runner', 'front', 'gateway-fix', 'hal', 'ingest', 'jo'];

/** Endpoints of one agent, with round trips that differ. */
function bound(count: number, seed = 0): readonly EndpointRow[] {
  return servers.slice(0, count).map((server, index) =>
    endpoint({
      server,
      roundTripMs: 2 + ((seed * 7 + index * 3) % 11),
      lastProofAt: noon - ((seed * 5 + index) % 29) * 1_000,
    }),
  );
}

function rows(agents: number, columns: number): readonly AgentRow[] {
  return Array.from({ length: agents }, (_, index) => {
    const name = index < names.length ? (names[index] ?? '') : `agent-${String(index).padStart(3, '0')}`;
    const activity =
      (['idle', 'busy', 'idle', 'busy', 'waiting for input'] as const)[(index * 3) % (index > 4 ? 5 : 2)] ?? 'idle';
    return agent(name, { activity, endpoints: bound(columns, index), directory: `/home/person/work/${name}` });
  });
}

/** The row with other endpoints; its worst one is that which was changed. */
function withEndpoints(
  row: AgentRow,
  changed: Readonly<Record<number, Partial<EndpointRow>>>,
  rest: Partial<AgentRow> = {},
): AgentRow {
  const endpoints = row.endpoints.map((one, index) => ({ ...one, ...changed[index] }));
  const worst = Object.values(changed)[0]?.state ?? row.worst;
  return { ...row, endpoints, worst, ...rest };
}

const lost = (): Partial<EndpointRow> => {
  const { server: _server, ...rest } = unbound('gateway was away');
  return rest;
};
const degraded: Partial<EndpointRow> = {
  state: 'degraded',
  cause: 'It is bound, but the server "postgres" behind it fails: connect ECONNREFUSED 127.0.0.1:5432',
  nextStep:
    'Mend that server; the agent is left as it is, and this ends with the next call that works. Reconnect Upstream tries it now.',
  upstream: { goodCall: { at: noon - 240_000, roundTripMs: 31 } },
};
const suspect: Partial<EndpointRow> = { state: 'suspect', cause: 'Being checked: the gateway was restarted.' };
const pending: Partial<EndpointRow> = { state: 'pending', cause: '', nextStep: '' };
const notCheckable: Partial<EndpointRow> = {
  state: 'not checkable',
  cause: 'This version of Claude keeps no stream open after an outage; it dials again when a tool is called.',
  nextStep: 'Nothing to do: the next tool call binds it again. Reconnect MCP does so at once.',
  client: 'claude-code 2.1.160',
};
const off: Partial<EndpointRow> = { state: 'off' };

const timeline: readonly TimelineEntry[] = [
  { at: noon - 900_000, kind: 'epoch', text: 'the gateway started' },
  ...['ada', 'bo', 'carla'].map((name): TimelineEntry => ({
    at: noon - 880_000,
    agent: name,
    text: 'process started (resume)',
  })),
  ...['ada', 'bo', 'carla'].map((name): TimelineEntry => ({
    at: noon - 874_000,
    agent: name,
    server: 'bowline-self',
    text: 'session opened by claude-code 2.1.332',
  })),
  {
    at: noon - 600_000,
    agent: 'bo',
    server: 'github',
    kind: 'outage',
    text: 'its server fails: 503 Service Unavailable',
  },
  { at: noon - 420_000, agent: 'bo', server: 'github', kind: 'heal', text: 'its server works again' },
  { at: noon - 130_000, kind: 'epoch', text: 'the gateway was restarted; its port was closed meanwhile' },
  { at: noon - 110_000, agent: 'ada', server: 'bowline-self', kind: 'outage', text: 'unbound: gateway was away' },
  { at: noon - 109_400, agent: 'bo', server: 'bowline-self', kind: 'outage', text: 'unbound: gateway was away' },
  { at: noon - 108_000, agent: 'ada', server: 'bowline-self', kind: 'heal', text: 'reconnect started' },
  {
    at: noon - 96_000,
    agent: 'ada',
    server: 'bowline-self',
    kind: 'heal',
    text: 'reconnect verified: bound again after 12 s',
  },
  { at: noon - 60_000, agent: 'carla', text: 'prompt queued by window-1a2b3c4d' },
];

const probes: readonly ProbeSample[] = Array.from({ length: 34 }, (_, index) => ({
  at: noon - (34 - index) * 30_000,
  ...(index !== 21 && { ms: 3 + ((index * 37) % 5) + (index > 17 && index < 21 ? 20 + index : 0) }),
}));

function told(agentName: string, server = 'bowline-self'): Pick<HostToWebviewMessage, 'probes'> {
  return { probes: { agent: agentName, server, probes } };
}

const five = rows(5, 3);
const [ada, bo, carla, docs, e2e] = [0, 1, 2, 3, 4].map((index) => five[index] ?? agent('none'));
const healing: Partial<AgentRow> = { life: 'healing', detail: 'reconnect' };
const all = (changed: Partial<EndpointRow>): Readonly<Record<number, Partial<EndpointRow>>> => ({
  0: changed,
  1: changed,
  2: changed,
});

const dark = fleet(
  [
    withEndpoints(ada ?? agent('ada'), all(lost()), healing),
    withEndpoints(bo ?? agent('bo'), all(lost()), {
      life: 'healing',
      detail: 'waits for the end of its turn. If that waits for a lost tool, Interrupt Turn ends it',
      activity: 'busy',
    }),
    withEndpoints(carla ?? agent('carla'), all(lost()), healing),
    docs ?? agent('docs'),
    e2e ?? agent('e2e'),
  ],
  {
    status: { text: '3 lost tools: ada, bo, carla', detail: '', severity: 'error' },
    blackouts: [blackout('gateway was away', ['ada', 'bo', 'carla'])],
    timeline,
  },
);

const mixed = fleet(
  [
    withEndpoints(ada ?? agent('ada'), { 2: degraded }),
    withEndpoints(bo ?? agent('bo'), all(notCheckable)),
    withEndpoints(carla ?? agent('carla'), { ...all(pending), 0: suspect }, { life: 'verifying' }),
    withEndpoints(docs ?? agent('docs'), all(off), {
      life: 'sleeping',
      detail: 'a prompt or Attach wakes it, with its conversation',
      activity: 'unknown',
    }),
    { ...(e2e ?? agent('e2e')), activity: 'waiting for permission' },
  ],
  {
    status: { text: '1 bound, 1 degraded, 1 checking, 1 not checkable, 1 sleeping', detail: '', severity: 'neutral' },
    timeline,
  },
);

const stuck = fleet(
  [
    withEndpoints(ada ?? agent('ada'), all(off), {
      life: 'blocked',
      detail: 'login needed: Attach, log in with /login, and Resume it.',
      activity: 'unknown',
    }),
    withEndpoints(bo ?? agent('bo'), all(off), {
      life: 'dead',
      detail: 'crashed: claude ended with code 1: Cannot read properties of undefined (reading "cwd")',
      activity: 'unknown',
    }),
    withEndpoints(
      carla ?? agent('carla'),
      all({
        ...pending,
        state: 'unbound',
        cause: 'Claude asks whether it may trust the directory.',
        nextStep: 'Attach to the agent and answer the question.',
      }),
      { life: 'blocked', detail: 'waits at a dialog (trust): attach and answer it' },
    ),
    {
      ...(docs ?? agent('docs')),
      warnings: ['Its conversation was not saved: no transcript is there 30 s after a prompt.'],
    },
    agent('a-name-of-thirty-two-characters-', {
      endpoints: bound(3),
      directory: `/home/person/${'a-long-folder-name/'.repeat(5)}last`,
    }),
  ],
  {
    status: { text: '2 bound, 3 need you: ada, bo, carla', detail: '', severity: 'warning' },
    blackouts: [blackout('trust dialog', ['carla'])],
    timeline,
  },
);

const fifty = rows(50, 4).map((row, index) => {
  if (index === 7) return withEndpoints(row, { 1: lost() }, healing);
  if (index === 17 || index === 30) return withEndpoints(row, { 3: degraded });
  return index === 40
    ? withEndpoints(
        row,
        { 0: off, 1: off, 2: off, 3: off },
        { life: 'stopped', activity: 'unknown', detail: 'stopped by window-1' },
      )
    : row;
});
const huge = rows(200, 8).map((row, index) => {
  if (index % 41 === 5) return withEndpoints(row, { 2: lost() }, healing);
  if (index % 37 === 9) return withEndpoints(row, { [index % 8]: degraded });
  if (index % 29 === 11)
    return { ...row, endpoints: row.endpoints.filter((_, column) => column !== 4 && column !== 6) };
  return row;
});
const lostOf = (agents: readonly AgentRow[]): readonly string[] =>
  agents.filter(({ worst }) => worst === 'unbound').map(({ name }) => name);

/** A fleet of 200 agents with 8 endpoints each, some of which are not well. */
export const largest: FleetView = fleet(huge, {
  status: {
    text: `${lostOf(huge).length} lost tools: ${lostOf(huge).slice(0, 3).join(', ')}, ...`,
    detail: '',
    severity: 'error',
  },
  blackouts: [blackout('client gave up', lostOf(huge))],
  timeline,
});

export const scenes: readonly Scene[] = [
  { name: 'connecting' },
  { name: 'empty', view: fleet([]) },
  {
    name: 'cannot-start',
    view: fleet([], { connection: { kind: 'away', since: noon - 9_000, reason: 'it is being started' } }),
    told: {
      opening: {
        kind: 'cannot start',
        sentence: 'The gateway could not be started: the directory /home/person/.local/state/bowline is not writable.',
      },
    },
  },
  { name: 'one', view: fleet([agent('ada')], { timeline }), told: told('ada') },
  { name: 'well', view: fleet(five, { timeline }) },
  {
    name: 'details',
    view: fleet(five, { timeline }),
    told: told('bo'),
    state: { selected: { agent: 'bo', server: 'bowline-self' }, timeline: 'open' },
  },
  {
    name: 'blackout',
    view: dark,
    told: told('bo', 'bowline-messaging'),
    state: { selected: { agent: 'bo', server: 'bowline-messaging' } },
  },
  {
    name: 'states',
    view: mixed,
    told: told('ada', 'bowline-memory'),
    state: { selected: { agent: 'ada', server: 'bowline-memory' }, timeline: 'open', events: 'binding' },
  },
  { name: 'stuck', view: stuck, state: { selected: { agent: 'bo' } } },
  {
    name: 'away',
    view: fleet(
      five.map((row) => ({
        ...row,
        worst: 'gateway down' as const,
        endpoints: row.endpoints.map((one) => ({
          ...one,
          state: 'gateway down' as const,
          cause: 'The gateway is away: connection refused',
          nextStep: 'Bowline starts the gateway again and then heals the agent. Show Log tells what keeps it.',
        })),
      })),
      {
        status: { text: 'gateway down', detail: 'connection refused', severity: 'error' },
        connection: { kind: 'away', since: noon - 12_000, reason: 'connection refused' },
        timeline,
      },
    ),
  },
  {
    name: 'fifty',
    view: fleet(fifty, {
      status: { text: '1 lost tools: hal', detail: '', severity: 'error' },
      blackouts: [blackout('client gave up', lostOf(fifty))],
      timeline,
    }),
  },
  { name: 'largest', view: largest },
];
