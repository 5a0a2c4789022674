import { deepStrictEqual } from 'node:assert/strict';
import { differencesOf, type SeenAgent, type SeenPane } from '../../../../src/core/fleet/differences.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const own: SeenPane = { sessionName: 'ada', launchId: 'ada.1', pid: 4711, dead: false };
const mine = { pid: 4711, sessionId: 'session-1', of: 'own' } as const;

function prompted(): FleetStory {
  return FleetStory.bound().hook({ event: 'UserPromptSubmit', transcriptPath: '/t/session-1.jsonl' });
}

interface Row {
  readonly title: string;
  readonly story?: FleetStory;
  readonly panes?: readonly SeenPane[];
  readonly seen?: SeenAgent;
  readonly found: readonly string[];
}

const rows: readonly Row[] = [
  { title: 'everything as recorded', seen: { sessions: [mine], transcript: 'there' }, found: [] },
  { title: 'nothing that could be found out', panes: [], seen: {}, found: [] },
  // The observer tells it as the end of the process.
  { title: 'a record without a pane', panes: [], seen: { sessions: [] }, found: [] },
  {
    title: 'a pane without a record',
    panes: [own, { sessionName: 'bo', launchId: 'bo.3', pid: 5, dead: false }],
    found: ['bo: pane without record'],
  },
  {
    title: 'panes that are not of Bowline, or dead, or of no name that an agent can have',
    panes: [
      { sessionName: 'bo', launchId: '', pid: 5, dead: false },
      { sessionName: 'bo', launchId: 'bo.3', pid: 5, dead: true },
      { sessionName: 'My Session', launchId: 'x', pid: 5, dead: false },
    ],
    found: [],
  },
  {
    title: 'a pane of a launch that is over or was never known',
    story: FleetStory.bound().tell({
      ...{ kind: 'process ended', name: 'ada', launchId: 'ada.1' },
      exit: { how: 'exited', status: 1, reading: 'other', detail: 'ended' },
    }),
    panes: [own, { ...own, launchId: 'ada.0', pid: 7 }],
    found: ['ada: pane of another launch', 'ada: pane of another launch'],
  },
  {
    title: 'both processes of a restart that is under way',
    story: FleetStory.bound().request('ada', { id: 'ada.2' }),
    panes: [own, { ...own, launchId: 'ada.2', pid: 8 }],
    found: [],
  },
  {
    title: 'a live session with a conversation that the record does not know',
    seen: { sessions: [{ ...mine, sessionId: 'session-9' }] },
    found: ['ada: other conversation'],
  },
  {
    title: 'a live session with a former conversation, whose file is behind',
    story: prompted().wait(5).hook({ event: 'SessionStart', source: 'clear', sessionId: 'session-2' }),
    seen: { sessions: [mine] },
    found: [],
  },
  {
    title: 'two processes on one conversation',
    seen: { sessions: [mine, { pid: 9, sessionId: 'session-1', of: 'other' }] },
    found: ['ada: shared with 9'],
  },
  {
    title: 'two processes on one conversation, which is known',
    story: prompted().tell({ kind: 'conversation shared', name: 'ada', launchId: 'ada.1', pid: 9 }),
    seen: { sessions: [mine, { pid: 9, sessionId: 'session-1', of: 'other' }] },
    found: [],
  },
  { title: 'a transcript that is gone', seen: { transcript: 'missing' }, found: ['ada: transcript missing'] },
  {
    title: 'no transcript before the first prompt',
    story: FleetStory.bound(),
    seen: { transcript: 'missing' },
    found: [],
  },
  {
    title: 'a transcript that is gone while nothing runs',
    story: prompted().tell({
      ...{ kind: 'process ended', name: 'ada', launchId: 'ada.1' },
      exit: { how: 'host gone', reading: 'other', detail: 'the tmux server ended' },
    }),
    panes: [],
    seen: { transcript: 'missing' },
    found: ['ada: transcript missing'],
  },
];

describe('differences between the record and what is there', () => {
  for (const { title, story = prompted(), panes = [own], seen, found } of rows) {
    it(`finds ${title}`, () => {
      const all = differencesOf(story.state, panes, new Map(seen === undefined ? [] : [['ada', seen]]));
      deepStrictEqual(
        all.map((one) => `${one.name}: ${one.kind === 'difference found' ? one.what : `shared with ${one.pid ?? ''}`}`),
        found,
      );
      // Whatever was found, nothing counts as ended for it.
      const lives = Object.values(story.state.agents).map(({ life }) => life);
      for (const one of all) if (one.kind === 'difference found') story.tell(one);
      deepStrictEqual(
        Object.values(story.state.agents).map(({ life }) => life),
        lives,
      );
    });
  }

  it('tells a difference once in the audit, and what differs otherwise anew', () => {
    const story = prompted();
    const told = { kind: 'difference found', name: 'ada', what: 'transcript missing', detail: 'a' } as const;
    story
      .tell(told)
      .tell(told)
      .tell({ ...told, detail: 'b' })
      .tell({ ...told, name: 'gone', what: 'pane without record' });
    const deeds = story.state.audit.flatMap((one) =>
      one.action === 'deed' && one.what.startsWith('difference') ? one : [],
    );
    deepStrictEqual(
      deeds.map(({ agent, what, detail, by }) => [agent, what, detail, by]),
      [
        ['ada', 'difference: transcript missing', 'a', 'hands: window'],
        ['ada', 'difference: transcript missing', 'b', 'hands: window'],
        ['gone', 'difference: pane without record', 'a', 'hands: window'],
      ],
    );
  });

  it('answers to who asked, once', () => {
    const story = FleetStory.bound().tell({ kind: 'reconcile requested', asker: 'window-1' });
    const askedAt = story.now;
    const open = story.state.reconciliation;
    story.wait(5).tell({ kind: 'reconciled', askedAt: askedAt - 1, differences: 7 });
    story.tell({ kind: 'reconciled', askedAt, differences: 2 }).tell({ kind: 'reconciled', askedAt, differences: 3 });
    deepStrictEqual(
      [open, story.state.reconciliation],
      [{ askedAt }, { askedAt, done: { at: story.now, differences: 2 } }],
    );
  });
});
