import { deepStrictEqual } from 'node:assert/strict';
import { isStoppable, stillRunning } from '../../../src/extension/stopProgress.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

describe('the progress of Stop All', () => {
  it('counts who runs or could wake, until its process is gone', () => {
    const story = FleetStory.bound().create('bo');
    deepStrictEqual([isStoppable(story.agent('ada')), isStoppable(story.agent('bo'))], [true, false]);
    const left = (): readonly string[] => stillRunning(story.state, ['ada', 'bo', 'removed']);
    story.tell({ kind: 'stop requested', name: 'ada', reason: 'idle', then: 'keep' });
    const exit = { how: 'gone', reading: 'other', detail: 'stopped' } as const;
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
    const asleep = left();
    story.tell({ kind: 'stop requested', name: 'ada', reason: 'shutdown', then: 'keep' });
    deepStrictEqual([asleep, left()], [['ada'], []]);
  });
});
