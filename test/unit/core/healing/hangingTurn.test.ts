import { deepStrictEqual } from 'node:assert/strict';
import { select } from '../../../../src/core/fleet/select.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

/** What a person sees of the agent, and what healing tries or types. */
function look(story: FleetStory): readonly unknown[] {
  const { effects } = story.settle();
  const [row] = select(story.state, { kind: 'connected' }, story.now).agents;
  const rungs = Object.values(story.agent().incidents).flatMap(({ attempts }) => attempts.map(({ rung }) => rung));
  const acts = effects.filter(({ kind }) => kind !== 'probe').map(({ kind }) => kind);
  return [row?.life, row?.detail, rungs, acts, story.agent().launchCount];
}

const launchId = 'ada.1';

describe('a turn that waits for a tool that is lost', () => {
  it('is never ended by healing; a person is told how to end it, and healing goes on at once after that', () => {
    const story = FleetStory.bound().wait(1_000).hook({ event: 'UserPromptSubmit' });
    story.wait(1_000).dropStream().wait(14_000);
    const told = 'waits for the end of its turn. If that waits for a lost tool, Interrupt Turn ends it';
    const hanging = ['healing', told, [], [], 1];
    const seen = [look(story), look(story.wait(60_000)), look(story.wait(24 * 3600_000))];
    const { since: turnSince } = story.agent().activity;
    story.tell({ kind: 'interrupt requested', name: 'ada', launchId, request: { id: 'i1', turnSince, by: 'window' } });
    const asked = look(story);
    story.tell({ kind: 'interrupt pressed', name: 'ada', launchId, interruptId: 'i1' }).wait(200);
    story.tell({ kind: 'activity observed', name: 'ada', launchId, activity: 'idle' });
    deepStrictEqual(
      [seen, asked, look(story)],
      [
        [hanging, hanging, hanging],
        ['healing', told, [], ['interrupt'], 1],
        ['healing', 'reconnect', ['reconnect'], ['type'], 1],
      ],
    );
  });

  it('says what it waits for where that is a question, or nothing is known', () => {
    const lost = (story: FleetStory): FleetStory => story.wait(1_000).dropStream().wait(14_000);
    const asks = (waitingFor: 'permission' | 'input'): FleetStory =>
      lost(FleetStory.bound().wait(1_000).hook({ event: 'Notification', waitingFor }));
    const unknown = lost(FleetStory.bound().wait(1_000));
    unknown.tell({ kind: 'activity observed', name: 'ada', launchId, activity: 'unknown' });
    deepStrictEqual(
      [asks('permission'), asks('input'), unknown].map((story) => look(story)[1]),
      [
        'waits for your answer to its question: attach and give it',
        'waits for your answer to its question: attach and give it',
        'waits for a sign that it is idle: attach and look',
      ],
    );
  });
});
