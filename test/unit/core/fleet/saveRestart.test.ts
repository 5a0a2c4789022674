import { deepStrictEqual, match } from 'node:assert/strict';
import { saveRestartTimes } from '../../../../src/core/fleet/planSaveRestart.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const name = 'ada';
const launchId = 'ada.1';
const promptId = 'p1';

/** Asked to save, after a turn without a save. */
function asked(): FleetStory {
  const story = FleetStory.bound().wait(1_000).hook({ event: 'UserPromptSubmit' }).wait(1_000).hook({ event: 'Stop' });
  const prompt = { id: promptId, requestedAt: story.wait(1_000).now, by: 'window 1', digest: 'd', characters: 5 };
  story.tell({ kind: 'prompt requested', name, prompt });
  return story.tell({ kind: 'save restart requested', name, request: { promptId, mode: 'fresh' } });
}

function received(story: FleetStory): FleetStory {
  story.wait(10).tell({ kind: 'prompt taken', name, promptId, launchId });
  story.wait(10).tell({ kind: 'prompt typed', name, promptId, launchId });
  return story.wait(10).hook({ event: 'UserPromptSubmit', promptDigest: 'd' });
}

function save(story: FleetStory): FleetStory {
  const context = { at: story.wait(500).now, sessionId: 'session-1', launchId, origin: 'explicit', bytes: 9 } as const;
  return story.tell({ kind: 'context saved', name, context });
}

function look(story: FleetStory): readonly [string, string] {
  story.settle();
  const { life, saveRestart } = story.agent();
  return [
    life.kind === 'launching' ? `launching ${life.launch.mode}` : life.kind,
    saveRestart?.ended?.detail ?? 'open',
  ];
}

describe('a restart that waits for the save', () => {
  it('begins when the context is saved and the turn has ended, not before', () => {
    const story = asked();
    const seen = [look(story), look(received(story)), look(save(story))];
    story.wait(500).hook({ event: 'Stop' });
    seen.push(look(story));
    deepStrictEqual(seen, [
      ['running', 'open'],
      ['running', 'open'],
      ['running', 'open'],
      ['launching fresh', 'its context is saved'],
    ]);
  });

  it('waits for the end of the turn also where the agent still counts as idle when the save comes', () => {
    const story = save(asked());
    const before = look(story);
    story.wait(500).hook({ event: 'UserPromptSubmit', promptDigest: 'd' }).wait(500).hook({ event: 'Stop' });
    deepStrictEqual([before[0], look(story)[0]], ['running', 'launching fresh']);
  });

  it('begins once: the new launch is not restarted again', () => {
    const story = save(received(asked())).wait(500).hook({ event: 'Stop' });
    look(story);
    const { life } = story.agent();
    story.launched(name, life.kind === 'launching' ? life.launch.id : '').wait(1_000);
    deepStrictEqual([look(story)[0], story.agent().launchCount], ['running', 2]);
  });

  const refused: readonly (readonly [string, (story: FleetStory) => unknown, RegExp])[] = [
    [
      'the turn ends without a save',
      (story) => {
        received(story).wait(500).hook({ event: 'Stop' });
        story.wait(saveRestartTimes.turnSettles);
      },
      /ada was not restarted: it ended its turn without saving/,
    ],
    [
      'nothing is saved in time',
      (story) => received(story).wait(saveRestartTimes.saveWithin),
      /did not save its context within 10 min/,
    ],
    [
      'the saving turn does not end in time',
      (story) => save(received(story)).wait(saveRestartTimes.saveWithin),
      /is saved, but its turn did not end/,
    ],
    [
      'the prompt could not be sent',
      (story) => story.tell({ kind: 'prompt ended', name, promptId, outcome: 'failed', detail: 'No.' }),
      /not restarted: No\./,
    ],
    [
      'the receipt of the prompt is not known',
      (story) => {
        story.tell({ kind: 'prompt taken', name, promptId, launchId });
        story.tell({ kind: 'prompt typed', name, promptId, launchId }).wait(20_000);
      },
      /asked to save, but The prompt was typed, and ada did not tell its receipt/,
    ],
    [
      'the agent is stopped',
      (story) => story.tell({ kind: 'stop requested', name, reason: 'released', then: 'keep' }),
      /does not run any more \(stopping\)/,
    ],
  ];
  for (const [what, happen, sentence] of refused) {
    it(`restarts nothing and says so when ${what}`, () => {
      const story = asked();
      happen(story);
      const [life, detail] = look(story);
      deepStrictEqual([life.startsWith('launching'), story.agent().launchCount], [false, 1]);
      match(detail, sentence);
    });
  }

  it('counts no save of before the request, and none that was carried over', () => {
    const story = asked();
    const old = { at: story.now - 1, sessionId: 'session-1', launchId, origin: 'explicit', bytes: 9 } as const;
    story.tell({ kind: 'context saved', name, context: old });
    const before = look(story);
    story.tell({ kind: 'context saved', name, context: { ...old, at: story.now, origin: 'carried' } });
    deepStrictEqual(
      [before, look(story)],
      [
        ['running', 'open'],
        ['running', 'open'],
      ],
    );
  });
});
