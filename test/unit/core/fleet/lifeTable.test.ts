import { deepStrictEqual } from 'node:assert/strict';
import type { FleetEvent, FleetEventKind } from '../../../../src/core/fleet/events.ts';
import { reduce } from '../../../../src/core/fleet/reduce.ts';
import { emptyFleet } from '../../../../src/core/fleet/state.ts';
import type { Life } from '../../../../src/core/fleet/life.ts';
import { liveLaunchIds } from '../../../../src/core/fleet/agent.ts';
import { fleetStateSchema } from '../../../../src/protocol/fleetState.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const server = 'bowline-self';
const subject = { name: 'ada', server };
const exit = { how: 'exited', status: 3, reading: 'other', detail: 'ended with status 3' } as const;

/** An agent in each state that is stored. */
const states: Readonly<Record<string, () => FleetStory>> = {
  none: () => new FleetStory(),
  stopped: () => new FleetStory().create(),
  launching: () => new FleetStory().create().request(),
  relaunching: () => FleetStory.bound().request('ada', { id: 'ada.2' }),
  running: () => FleetStory.bound(),
  stopping: () => stop(FleetStory.bound()),
  'stopping both': () => stop(FleetStory.bound().request('ada', { id: 'ada.2' })),
  removing: () => stop(FleetStory.bound(), 'remove'),
  'falling asleep': () => fallAsleep(FleetStory.bound()),
  sleeping: () => fallAsleep(FleetStory.bound()).tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit }),
  blocked: () =>
    new FleetStory()
      .create()
      .request()
      .tell({ kind: 'launch failed', name: 'ada', launchId: 'ada.1', code: 'tmux-failed', sentence: 'no' }),
  dead: () => FleetStory.bound().tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit }),
};

function stop(story: FleetStory, then: 'keep' | 'remove' = 'keep'): FleetStory {
  return story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then });
}

function fallAsleep(story: FleetStory): FleetStory {
  return story.tell({ kind: 'stop requested', name: 'ada', reason: 'idle', then: 'keep' });
}

function stateOf(life: Life | undefined): string {
  switch (life?.kind) {
    case undefined:
      return 'none';
    case 'launching':
      return life.ending === undefined ? 'launching' : 'relaunching';
    case 'stopping':
      if (life.then === 'remove') return 'removing';
      if (life.reason === 'idle') return 'falling asleep';
      return life.ending === undefined ? 'stopping' : 'stopping both';
    case 'stopped':
    case 'running':
    case 'sleeping':
    case 'blocked':
    case 'dead':
      return life.kind;
  }
}

type Fact<Kind extends FleetEventKind> = Omit<Extract<FleetEvent, { kind: Kind }>, 'at'>;

/** One fact of each kind about the launch that is current in the state; `ended former` is about the one before. */
function facts(launchId: string): { readonly [Kind in FleetEventKind]: Fact<Kind> } {
  const launch = { id: 'ada.9', mode: 'fresh', requestedAt: 1, cause: 'person' } as const;
  const of = { name: 'ada', launchId };
  const endpoint = { ...subject, launchId };
  const prompt = { name: 'ada', promptId: 'prompt-1', launchId };
  const session = 'digest';
  const client = { name: 'claude-code', version: '2.1.332', protocolVersion: '2025-11-25' };
  const configuration = { directory: '/work', extraArguments: [], environment: {}, servers: {} };
  const attemptId = 'attempt-1';
  return {
    'epoch started': { kind: 'epoch started', epoch: { id: 'epoch-9', startedAt: 1, port: 'kept open' } },
    'host resumed': { kind: 'host resumed' },
    'settings changed': { kind: 'settings changed', settings: emptyFleet.settings },
    'hands changed': { kind: 'hands changed', holder: 'window' },
    noticed: { kind: 'noticed', notice: { at: 1, code: 'x', sentence: 'x', severity: 'info' } },
    'agent created': { kind: 'agent created', name: 'ada', configuration },
    'adoption ended': { kind: 'adoption ended', name: 'ada', detail: 'no' },
    'agent configured': { kind: 'agent configured', name: 'ada', configuration },
    'agent removed': { kind: 'agent removed', name: 'ada' },
    'own servers read': { kind: 'own servers read', name: 'ada', servers: [] },
    'server approved': { kind: 'server approved', name: 'ada', server: 'lab', file: '/work/.mcp.json', digest: 'd' },
    'server approval withdrawn': { kind: 'server approval withdrawn', name: 'ada', server: 'lab', digest: 'd' },
    'server wants login': { kind: 'server wants login', name: 'ada', server: 'lab', digest: 'd' },
    'launch requested': { kind: 'launch requested', name: 'ada', launch },
    'stop requested': { kind: 'stop requested', name: 'ada', reason: 'released', then: 'keep' },
    'restore requested': { kind: 'restore requested', id: 'restore-1', by: 'w', agents: ['ada'] },
    'restore ended': { kind: 'restore ended', id: 'restore-1', outcome: 'called off' },
    'guard bypassed': {
      kind: 'guard bypassed',
      record: { at: 1, agent: 'ada', action: 'guard bypassed', mode: 'fresh', by: 'w', verdict: 'ok', reason: '' },
    },
    'look requested': { kind: 'look requested', ...of },
    'screen looked at': { kind: 'screen looked at', ...of, askedAt: 1, shows: 'empty input' },
    'interrupt requested': { kind: 'interrupt requested', ...of, request: { id: 'i', turnSince: 1, by: 'w' } },
    'interrupt pressed': { kind: 'interrupt pressed', ...of, interruptId: 'i' },
    'interrupt ended': { kind: 'interrupt ended', ...of, interruptId: 'i', outcome: 'no effect', detail: 'no' },
    'hooks checked': { kind: 'hooks checked', ...of, silentSince: 1 },
    'conversation found': { kind: 'conversation found', name: 'ada', sessionId: 'session-1', transcriptPath: '/t' },
    'conversation shared': { kind: 'conversation shared', ...of, pid: 7 },
    'launch doubled': { kind: 'launch doubled', ...of, process: { pid: 7, startTime: 't' } },
    'reconcile requested': { kind: 'reconcile requested', asker: 'w' },
    'difference found': { kind: 'difference found', name: 'ada', what: 'transcript missing', detail: 'no' },
    reconciled: { kind: 'reconciled', askedAt: 1, differences: 0 },
    'program changed': { kind: 'program changed', ...of, what: 'gone' },
    'transcript seen': { kind: 'transcript seen', name: 'ada', sessionId: 's', file: 'missing' },
    'conversation released': { kind: 'conversation released', name: 'ada', sessionId: 's', by: 'w' },
    doubted: { kind: 'doubted', ...subject, cause: 'asked' },
    'prompt requested': {
      kind: 'prompt requested',
      name: 'ada',
      prompt: { id: 'prompt-1', requestedAt: 1, by: 'w', digest: 'd', characters: 1 },
    },
    'save restart requested': {
      kind: 'save restart requested',
      name: 'ada',
      request: { promptId: 'prompt-1', mode: 'fresh' },
    },
    launched: { kind: 'launched', ...of, process: { tmuxSession: '$1', pane: '%1', pid: 4711 } },
    'launch failed': { kind: 'launch failed', ...of, code: 'tmux-failed', sentence: 'no' },
    'launch waits': { kind: 'launch waits', ...of, sentence: 'tmux is slow' },
    'process ended': { kind: 'process ended', ...of, exit },
    'sleep put off': { kind: 'sleep put off', ...of, detail: 'a terminal is attached to it' },
    'screen read': { kind: 'screen read', ...of, dialog: 'trust' },
    'activity observed': { kind: 'activity observed', ...of, activity: 'busy' },
    'prompt taken': { kind: 'prompt taken', ...prompt },
    'prompt waits': { kind: 'prompt waits', ...prompt, reason: 'a turn' },
    'prompt typed': { kind: 'prompt typed', ...prompt },
    'hook reported': {
      kind: 'hook reported',
      ...of,
      hook: { event: 'SessionStart', source: 'startup', sessionId: 'session-9', transcriptExists: true },
    },
    'mcp initialized': { kind: 'mcp initialized', ...endpoint, session, client },
    'mcp tools listed': { kind: 'mcp tools listed', ...endpoint, session },
    'mcp proof seen': { kind: 'mcp proof seen', ...endpoint, session },
    'mcp stream opened': { kind: 'mcp stream opened', ...endpoint, session },
    'mcp stream closed': { kind: 'mcp stream closed', ...endpoint, session },
    'upstream failed': { kind: 'upstream failed', ...endpoint, detail: 'no answer' },
    'upstream answered': { kind: 'upstream answered', ...endpoint },
    'upstream detached': { kind: 'upstream detached', ...endpoint, why: 'changed' },
    'probe answered': { kind: 'probe answered', ...endpoint, sentAt: 9, roundTripMs: 1 },
    'probe failed': { kind: 'probe failed', ...endpoint, sentAt: 9 },
    'identity fault': { kind: 'identity fault', ...subject, cause: 'key wrong', detail: 'wrong key' },
    'context saved': { kind: 'context saved', name: 'ada', context: { at: 1, launchId, origin: 'explicit', bytes: 1 } },
    'prompt ended': { kind: 'prompt ended', ...prompt, outcome: 'unknown', detail: 'no receipt' },
    'save restart ended': { kind: 'save restart ended', ...prompt, outcome: 'not restarted', detail: 'no' },
    'incident opened': { kind: 'incident opened', ...subject, cause: 'client gave up' },
    'incident reopened': { kind: 'incident reopened', ...subject },
    'incident closed': { kind: 'incident closed', ...subject, outcome: 'bound' },
    'incident ended': {
      kind: 'incident ended',
      ...subject,
      end: { kind: 'dead', reason: 'crash loop', detail: 'too many' },
    },
    'rung started': { kind: 'rung started', ...subject, attemptId, rung: 'reconnect', by: 'policy' },
    'rung acted': { kind: 'rung acted', ...subject, attemptId },
    'rung ended': { kind: 'rung ended', ...subject, attemptId, outcome: 'failed', detail: 'no' },
    'launch verified': { kind: 'launch verified', ...of },
    'launch unverified': { kind: 'launch unverified', ...of, detail: 'it told nothing' },
    'resume failed': { kind: 'resume failed', ...of, detail: 'another conversation began' },
  };
}

/** Which facts bring an agent from a state into another one. All that is not here changes no life. */
const transitions: Readonly<Record<string, Readonly<Partial<Record<FleetEventKind, string>>>>> = {
  none: { 'agent created': 'stopped' },
  stopped: { 'agent removed': 'none', 'launch requested': 'launching' },
  launching: { 'stop requested': 'stopping', launched: 'running', 'launch failed': 'blocked' },
  relaunching: { 'stop requested': 'stopping both', launched: 'running', 'launch failed': 'running' },
  running: {
    'launch requested': 'relaunching',
    'stop requested': 'stopping',
    'process ended': 'dead',
    'resume failed': 'stopping',
  },
  stopping: { 'process ended': 'stopped' },
  'stopping both': { 'process ended': 'stopped' },
  removing: { 'stop requested': 'stopping', 'process ended': 'none' },
  'falling asleep': { 'stop requested': 'stopping', 'sleep put off': 'running', 'process ended': 'sleeping' },
  sleeping: { 'agent removed': 'none', 'launch requested': 'launching', 'stop requested': 'stopped' },
  blocked: { 'agent removed': 'none', 'launch requested': 'launching' },
  dead: { 'agent removed': 'none', 'launch requested': 'launching' },
};

describe('table of all states and facts', () => {
  for (const [from, make] of Object.entries(states)) {
    it(`of an agent that is ${from}`, () => {
      const seen: Partial<Record<FleetEventKind, string>> = {};
      for (const [kind, fact] of Object.entries(facts(currentId(make()))) as [FleetEventKind, Fact<FleetEventKind>][]) {
        const story = make().wait(1_000);
        const before = story.state;
        const after = reduce(before, { ...fact, at: story.now } as FleetEvent);
        fleetStateSchema.parse(JSON.parse(JSON.stringify(after)));
        const to = stateOf(after.agents['ada']?.life);
        if (to !== from) seen[kind] = to;
        const stored = [before, after].map(({ agents }) => agents['ada']?.life.kind);
        const added = after.audit.filter((record) => record.action === 'life').slice(countOf(before));
        deepStrictEqual(
          added.map(({ by: _by, detail: _detail, ...record }) => record),
          stored[0] === stored[1]
            ? []
            : [
                {
                  at: story.now,
                  agent: 'ada',
                  action: 'life',
                  from: stored[0] ?? 'none',
                  to: stored[1] ?? 'removed',
                  trigger: kind,
                },
              ],
        );
      }
      deepStrictEqual(seen, transitions[from]);
    });
  }

  it('ends the former launch, too, when a restart is called off', () => {
    const story = FleetStory.bound().request('ada', { id: 'ada.2' });
    stop(story);
    deepStrictEqual(liveLaunchIds(story.agent()), ['ada.2', 'ada.1']);
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.2', exit });
    deepStrictEqual(
      [story.agent().launches.map(({ launch, reason }) => `${launch.id} ${reason}`), story.agent().activity.kind],
      [['ada.1 released', 'ada.2 released'], 'unknown'],
    );
  });
});

function currentId(story: FleetStory): string {
  const agent = story.state.agents['ada'];
  return agent === undefined ? 'ada.1' : (liveLaunchIds(agent)[0] ?? 'ada.1');
}

function countOf(state: FleetStory['state']): number {
  return state.audit.filter((record) => record.action === 'life').length;
}
