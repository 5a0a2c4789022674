import { deepStrictEqual } from 'node:assert/strict';
import { type AgentRow, select } from '../../../src/core/fleet/select.ts';
import { changedSince, launchOutcome, newlyInNeed } from '../../../src/extension/launchOutcome.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

function rows(story: FleetStory): readonly AgentRow[] {
  return select(story.state, { kind: 'connected' }, story.now).agents;
}

function outcome(story: FleetStory, launchesBefore = 0): string {
  return launchOutcome(rows(story)[0], story.state.agents['ada']?.launchCount, launchesBefore);
}

describe('the outcome of a launch', () => {
  it('is open until the agent is bound, needs a person or ended', () => {
    const blocked = new FleetStory().create().request().launched();
    blocked.tell({ kind: 'screen read', name: 'ada', launchId: 'ada.1', dialog: 'trust' });
    const stopped = new FleetStory().create().request().launched();
    stopped.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'keep' });
    const exit = { how: 'exited', status: 0, reading: 'other', detail: 'ended' } as const;
    const ended = new FleetStory().create().request().launched();
    ended.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
    deepStrictEqual(
      [
        outcome(new FleetStory()),
        outcome(new FleetStory().create()),
        outcome(new FleetStory().create().request()),
        outcome(new FleetStory().create().request().launched()),
        outcome(FleetStory.bound()),
        outcome(blocked),
        outcome(stopped),
        outcome(ended),
      ],
      ['open', 'open', 'open', 'open', 'ready', 'needs a person', 'open', 'ended'],
    );
  });

  it('is not that of the launch before', () => {
    const story = FleetStory.bound();
    const before = outcome(story, 1);
    const during = outcome(story.request('ada', { id: 'ada.2' }), 1);
    deepStrictEqual([before, during, outcome(new FleetStory(), 1)], ['open', 'open', 'ended']);
  });
});

describe('agents that need a person', () => {
  it('are told once, when it begins, and again for another reason', () => {
    const before = FleetStory.bound();
    const calm = rows(before);
    const trust = rows(before.tell({ kind: 'screen read', name: 'ada', launchId: 'ada.1', dialog: 'trust' }));
    const login = rows(before.tell({ kind: 'screen read', name: 'ada', launchId: 'ada.1', dialog: 'login' }));
    const nobody = new Set<string>();
    const told = [
      newlyInNeed(calm, trust, nobody),
      newlyInNeed(trust, trust, nobody),
      newlyInNeed(trust, login, nobody),
      newlyInNeed(login, calm, nobody),
    ];
    deepStrictEqual(
      told.map((found) => found.map(({ detail }) => detail)),
      [[trust[0]?.detail], [], [login[0]?.detail], []],
    );
  });

  it('are no news when a window opens, except for the one that it just created', () => {
    const story = new FleetStory().create().request().create('bo').request('bo');
    for (const name of ['ada', 'bo']) {
      story.tell({ kind: 'launch failed', name, launchId: `${name}.1`, code: 'claude-missing', sentence: 'Gone.' });
    }
    const found = newlyInNeed([], rows(story), new Set(['bo']));
    deepStrictEqual(
      found.map(({ name }) => name),
      ['bo'],
    );
  });

  it('are acted for only as long as they need what the message said', () => {
    const story = FleetStory.bound();
    const calm = rows(story)[0];
    const [told] = rows(story.tell({ kind: 'screen read', name: 'ada', launchId: 'ada.1', dialog: 'trust' }));
    const [another] = rows(story.tell({ kind: 'screen read', name: 'ada', launchId: 'ada.1', dialog: 'login' }));
    if (told === undefined) throw new Error('no row');
    deepStrictEqual(
      [changedSince(told, told), ...[calm, another, undefined].map((now) => changedSince(told, now))],
      [
        undefined,
        'Nothing was done: what the message said of ada is over. By now it is ready.',
        'Nothing was done: what the message said of ada is over. By now it is blocked, waits at a dialog (login): attach and answer it.',
        'Nothing was done: there is no agent ada any more.',
      ],
    );
  });
});
