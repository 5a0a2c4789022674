import { deepStrictEqual } from 'node:assert/strict';
import { alarmsOf } from '../../../../src/core/fleet/alarms.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const path = '/t/session-1.jsonl';

/** Its first turn was told by hooks. */
function worked(): FleetStory {
  const story = FleetStory.bound().wait(1_000);
  story.hook({ event: 'UserPromptSubmit', transcriptPath: path });
  return story.wait(1_000).hook({ event: 'Stop', transcriptPath: path });
}

function observe(story: FleetStory, activity: 'busy' | 'idle'): FleetStory {
  return story.tell({ kind: 'activity observed', name: 'ada', launchId: 'ada.1', activity });
}

const looks = (story: FleetStory): readonly unknown[] =>
  story.plan().effects.flatMap((effect) => (effect.kind === 'hooks' ? [[effect.path, effect.toldUntil]] : []));
const codes = (story: FleetStory): readonly string[] => alarmsOf(story.agent()).map(({ code }) => code);

describe('hooks that went silent', () => {
  it('are looked for 15 s after work that none of them told, once for each sign of it', () => {
    const story = worked();
    const toldUntil = story.now + 5_000;
    observe(story.wait(60_000), 'busy');
    const early = looks(story.wait(14_999));
    const { wakeAt } = story.plan();
    const due = looks(story.wait(1));
    story.tell({ kind: 'hooks checked', name: 'ada', launchId: 'ada.1' });
    const after = [looks(story), codes(story)];
    const again = looks(observe(story.wait(1_000), 'idle').wait(15_000));
    deepStrictEqual(
      [early, (wakeAt ?? 0) <= story.now, due, after, again],
      [[], true, [[path, toldUntil]], [[], []], [[path, toldUntil]]],
    );
  });

  it('are no matter where a hook tells of that work, or the sign of it comes with the hook', () => {
    const told = observe(worked().wait(60_000), 'busy').wait(1_000);
    told.hook({ event: 'UserPromptSubmit', transcriptPath: path }).wait(60_000);
    const atOnce = observe(worked().wait(10), 'busy').wait(60_000);
    deepStrictEqual([looks(told), looks(atOnce)], [[], []]);
  });

  it('are warned of once, until one of them tells something again', () => {
    const story = observe(worked().wait(60_000), 'busy');
    const check = (): FleetStory =>
      story.tell({ kind: 'hooks checked', name: 'ada', launchId: 'ada.1', silentSince: story.now - 100 });
    const of = [codes(check()), codes(check())];
    of.push(story.state.notices.map(({ code }) => code));
    of.push(codes(story.wait(1).hook({ event: 'Stop', transcriptPath: path })));
    deepStrictEqual(of, [['hooks-silent'], ['hooks-silent'], ['hooks-silent'], []]);
  });
});
