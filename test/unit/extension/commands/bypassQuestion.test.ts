import { deepStrictEqual } from 'node:assert/strict';
import { select } from '../../../../src/core/fleet/select.ts';
import { bypassQuestion } from '../../../../src/extension/commands/bypassQuestion.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

function ask(story: FleetStory): unknown[] {
  const [row] = select(story.state, { kind: 'connected' }, story.now).agents;
  if (row === undefined) throw new Error('no agent');
  const { message, detail, verdicts } = bypassQuestion(story.agent(), row, story.now);
  return [message, detail.split('\n\n'), verdicts.resume.reason, verdicts.fresh.reason];
}

describe('the question of the bypass', () => {
  it('says what resume and fresh would each lose', () => {
    const busy = FleetStory.bound().hook({ event: 'UserPromptSubmit' });
    deepStrictEqual(ask(busy), [
      'Restart ada, bypassing the guard?',
      [
        'Resume its conversation. The guard says: turn in progress. Lost: the turn in progress is cut off.',
        'Start fresh, without its conversation. The guard says: turn in progress. Lost: the turn in progress and the conversation.',
        'This is recorded in the audit.',
      ],
      'turn in progress',
      'turn in progress',
    ]);
  });

  it('tells how far the save trails, and that an agent without tools cannot save', () => {
    const story = FleetStory.bound();
    const context = { at: story.now, sessionId: 'session-1', launchId: 'ada.1', origin: 'explicit', bytes: 9 } as const;
    story.tell({ kind: 'context saved', name: 'ada', context });
    story.wait(400_000).hook({ event: 'UserPromptSubmit' }).hook({ event: 'Stop' });
    story.dropStream().wait(14_000);
    deepStrictEqual(ask(story).slice(1), [
      [
        'Resume its conversation. The guard allows it. Its last work is 7 min newer than its saved context. Lost: nothing: the conversation is resumed.',
        'Start fresh, without its conversation. The guard allows it. Its last work is 7 min newer than its saved context. It cannot save: its tools are unreachable. Lost: what was worked on since the last save. The transcript file stays.',
        'This is recorded in the audit.',
      ],
      'ok',
      'save too old',
    ]);
  });
});
