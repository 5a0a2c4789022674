import { deepStrictEqual } from 'node:assert/strict';
import { handoverText } from '../../../../src/core/fleet/manifest.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const exit = { how: 'exited', signal: '9', reading: 'other', detail: 'killed' } as const;
const context = { at: 1_000_000, summary: 'half way', context: 'the plan' };
const saved = 'Context saved 8 min ago (1970-01-01T00:16:40.000Z):\nSummary: half way\nthe plan';
const first =
  'You are the agent "ada" of Bowline and go on in a new conversation: the one before is not visible to you.';

function worked(): FleetStory {
  return FleetStory.bound().hook({ event: 'UserPromptSubmit' }).wait(5_000).hook({ event: 'Stop' }).wait(480_000);
}

function fresh(story: FleetStory): FleetStory {
  return story.request('ada', { id: 'ada.2', requestedAt: story.now });
}

describe('what a new conversation is told of the one before', () => {
  it('is nothing where there was none', () => {
    const story = new FleetStory().create();
    fresh(story);
    const untouched = fresh(FleetStory.bound());
    deepStrictEqual(
      [story, untouched].map((one) => handoverText(one.agent(), undefined, one.now)),
      [undefined, undefined],
    );
  });

  it('tells a planned restart from one that nobody planned, with prompts that are open', () => {
    const planned = worked();
    for (const id of ['one', 'two']) {
      planned.tell({
        kind: 'prompt requested',
        name: 'ada',
        prompt: { id: `prompt-${id}`, requestedAt: planned.now, by: 'w', digest: 'd', characters: 1 },
      });
    }
    planned.tell({ kind: 'prompt taken', name: 'ada', promptId: 'prompt-one', launchId: 'ada.1' });
    const crashed = worked().tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit }).wait(60_000);
    deepStrictEqual(
      [
        handoverText(fresh(planned).agent(), context, planned.now),
        handoverText(fresh(crashed).agent(), undefined, crashed.now),
      ],
      [
        [
          first,
          'The restart was planned.',
          'Last activity: 8 min ago.',
          'Prompts that wait and will come to you by themselves: 1.',
          'Prompts that may not have been worked on: 1.',
          saved,
        ].join('\n'),
        [
          first,
          'The restart was not planned: the process before ended by itself 60 s ago (killed). What was in progress may ' +
            'be half done: look before you repeat it.',
          'Last activity: 9 min ago.',
          'No context was saved before it ended.',
        ].join('\n'),
      ],
    );
  });

  it('leaves a restart out that is more than 2 h ago, and calls an old context stale', () => {
    const story = worked()
      .tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit })
      .wait(13 * 3600_000);
    const text = handoverText(fresh(story).agent(), context, story.now);
    deepStrictEqual(text?.split('\n').slice(1, 3), [
      'Context saved 13 h ago (1970-01-01T00:16:40.000Z), stale: check it before you rely on it:',
      'Summary: half way',
    ]);
  });

  it('is cut where Claude would hide it, and says so', () => {
    const story = fresh(worked());
    const long = handoverText(story.agent(), { ...context, context: 'x'.repeat(60_000) }, story.now) ?? '';
    deepStrictEqual([long.length, long.slice(-52)], [9_000, 'xxxxx\n[cut here: call load_my_context for all of it]']);
  });
});
