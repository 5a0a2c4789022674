import { deepStrictEqual } from 'node:assert/strict';
import { promptViews } from '../../../src/core/fleet/promptView.ts';
import { promptProgress, saveProgress } from '../../../src/extension/promptProgress.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

const name = 'ada';
const launchId = 'ada.1';
const promptId = 'p1';

function queued(): FleetStory {
  const story = FleetStory.bound().wait(1_000);
  const prompt = { id: promptId, requestedAt: story.now, by: 'window 1', digest: 'd', characters: 5 };
  return story.tell({ kind: 'prompt requested', name, prompt });
}

describe('the progress of a prompt', () => {
  it('says in words what it waits for, and how it ended', () => {
    const story = queued();
    const seen: unknown[] = [promptProgress(name, undefined)];
    const look = (): unknown => seen.push(promptProgress(name, promptViews(story.state, name, story.now)[0]));
    look();
    story.tell({ kind: 'prompt waits', name, promptId, reason: 'the input line holds unsent text' });
    look();
    story.tell({ kind: 'prompt taken', name, promptId, launchId });
    look();
    story.tell({ kind: 'prompt typed', name, promptId, launchId });
    look();
    story.tell({ kind: 'prompt ended', name, promptId, outcome: 'unknown', detail: 'Look at the agent.' });
    look();
    story.hook({ event: 'UserPromptSubmit', promptDigest: 'd' });
    look();
    deepStrictEqual(seen, [
      { kind: 'open', message: 'on its way' },
      { kind: 'open', message: 'its turn has come' },
      { kind: 'open', message: 'waits: the input line holds unsent text' },
      { kind: 'open', message: 'is being typed' },
      { kind: 'open', message: 'was typed; waits for ada to tell that it was received' },
      { kind: 'unknown', sentence: 'Look at the agent.' },
      { kind: 'received' },
    ]);
  });
});

describe('the progress of a restart that waits for a save', () => {
  it('goes from the request over the save to the restart, or says why not', () => {
    const story = queued();
    const seen: unknown[] = [];
    const look = (): void => {
      const { saveRestart, ...agent } = story.agent();
      const view = promptViews(story.state, name, story.now)[0];
      seen.push(saveProgress(saveRestart === undefined ? agent : { ...agent, saveRestart }, promptId, view));
    };
    look();
    story.tell({ kind: 'save restart requested', name, request: { promptId, mode: 'fresh' } });
    look();
    story.tell({ kind: 'prompt taken', name, promptId, launchId });
    story.wait(5).hook({ event: 'UserPromptSubmit', promptDigest: 'd' });
    look();
    const context = { at: story.wait(5).now, launchId, origin: 'explicit', bytes: 1 } as const;
    story.tell({ kind: 'context saved', name, context });
    look();
    story.tell({ kind: 'save restart ended', name, promptId, outcome: 'not restarted', detail: 'Because.' });
    look();
    deepStrictEqual(
      [...seen, saveProgress(undefined, promptId, undefined)],
      [
        { kind: 'open', message: 'asking it to save' },
        { kind: 'open', message: 'the request to save its turn has come' },
        { kind: 'open', message: 'was asked; waits for its save' },
        { kind: 'open', message: 'its context is saved; waits for the end of its turn' },
        { kind: 'not restarted', sentence: 'Because.' },
        { kind: 'not restarted', sentence: 'The agent was removed; nothing was restarted.' },
      ],
    );
  });
});
