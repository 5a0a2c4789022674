import { deepStrictEqual } from 'node:assert/strict';
import type { Interrupt } from '../../../../src/core/fleet/life.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const of = { name: 'ada', launchId: 'ada.1' };

/** An agent in a turn that somebody wants interrupted. */
function asked(): FleetStory {
  const story = FleetStory.bound().wait(1_000).hook({ event: 'UserPromptSubmit' });
  const turnSince = story.now;
  return story.wait(1_000).tell({
    kind: 'interrupt requested',
    ...of,
    request: { id: 'i1', turnSince, by: 'window 1' },
  });
}

function keys(story: FleetStory): readonly string[] {
  return story
    .settle()
    .effects.filter(({ kind }) => kind === 'interrupt')
    .map(({ id }) => id);
}

function outcome(story: FleetStory): string {
  story.settle();
  const { life } = story.agent();
  const interrupt: Interrupt | undefined = life.kind === 'running' ? life.running.interrupt : undefined;
  return interrupt?.ended === undefined ? 'under way' : `${interrupt.ended.outcome}: ${interrupt.ended.detail}`;
}

const idle = (story: FleetStory): FleetStory => story.tell({ kind: 'activity observed', ...of, activity: 'idle' });
const pressed = (): FleetStory =>
  asked()
    .wait(100)
    .tell({ kind: 'interrupt pressed', ...of, interruptId: 'i1' });

describe('Interrupt Turn', () => {
  it('wants Escape once, and knows by what the agent does then that the turn was interrupted', () => {
    const story = asked();
    const before = [keys(story), outcome(story)];
    story.wait(100).tell({ kind: 'interrupt pressed', ...of, interruptId: 'i1' });
    const after = [keys(story), outcome(story)];
    deepStrictEqual(
      [before, after, outcome(idle(story.wait(200)))],
      [[['interrupt:i1'], 'under way'], [[], 'under way'], 'interrupted: the turn was interrupted'],
    );
  });

  it('counts an interrupted turn neither as completed nor as failed', () => {
    const story = idle(pressed().wait(200));
    story.settle();
    const { turnsCompleted, apiErrors, quarantine } = story.agent().session ?? {};
    deepStrictEqual([turnsCompleted, apiErrors, quarantine], [0, undefined, undefined]);
  });

  it('takes a queued prompt that Claude submits at once for the end of the turn', () => {
    const story = pressed().wait(200).hook({ event: 'UserPromptSubmit' });
    deepStrictEqual(outcome(story), 'interrupted: the turn was interrupted');
  });

  it('presses nothing in another turn, after the end of the turn, or in a question', () => {
    const over = 'no effect: The turn of ada was over before Escape was pressed; nothing was done.';
    const ends = [
      asked().wait(100).hook({ event: 'Stop' }),
      asked().wait(100).hook({ event: 'UserPromptSubmit' }),
      asked().wait(100).hook({ event: 'Notification', waitingFor: 'permission' }),
    ];
    deepStrictEqual(
      ends.map((story) => [keys(story), outcome(story)]),
      ends.map(() => [[], over]),
    );
  });

  it('says when it had no effect: Escape did not help, or could not be pressed in time', () => {
    const slow = asked();
    deepStrictEqual(
      [
        outcome(pressed().wait(4_999)),
        outcome(pressed().wait(5_000)),
        outcome(slow.wait(14_999)),
        outcome(slow.wait(1)),
        slow.settle().effects.filter(({ kind }) => kind === 'interrupt'),
      ],
      [
        'under way',
        'no effect: Escape was pressed, and ada goes on with its turn. Attach to ada and look.',
        'under way',
        'no effect: Escape could not be pressed in time. Attach to ada and press it there.',
        [],
      ],
    );
  });
});
