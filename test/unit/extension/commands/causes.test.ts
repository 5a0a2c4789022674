import { deepStrictEqual } from 'node:assert/strict';
import { type Connection, type FleetView, select } from '../../../../src/core/fleet/select.ts';
import { causeLines } from '../../../../src/extension/commands/causes.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

function view(story: FleetStory, connection: Connection = { kind: 'connected' }): FleetView {
  return select(story.state, connection, story.now);
}

function labels(shown: FleetView, startProblem?: string): string[] {
  return causeLines(shown, startProblem).map(({ label }) => label.replace(/^\$\([a-z~-]+\) /, ''));
}

describe('causes and actions behind the status bar', () => {
  it('say that nothing is wrong', () => {
    deepStrictEqual(labels(view(FleetStory.bound())), ['Causes', 'Nothing is wrong', 'Actions', 'Show Log']);
  });

  it('name a blackout once, and what can be done for each agent', () => {
    const story = FleetStory.bound();
    story.create('bo').request('bo').launched('bo');
    story.hook({ event: 'SessionStart' }, 'bo').connect('bo');
    story.probe('answered', 'bo');
    story.dropStream().dropStream('bo').wait(14_000);
    const shown = view(story);
    deepStrictEqual(labels(shown), [
      'Causes',
      `ada, bo: ${shown.blackouts[0]?.what ?? ''}`,
      'Actions',
      'Heal All (2)',
      'Reconnect MCP bowline-self for ada',
      'Reconnect MCP bowline-self for bo',
      'Attach ada',
      'Restart ada',
      'Verify Binding of ada',
      'Attach bo',
      'Restart bo',
      'Verify Binding of bo',
      'Show Log',
    ]);
  });

  it('offer what can be done with a poisoned conversation', () => {
    const story = FleetStory.bound();
    for (let turn = 0; turn < 2; turn += 1) story.wait(1_000).hook({ event: 'StopFailure', error: 'poisoned: image' });
    deepStrictEqual(labels(view(story)), [
      'Causes',
      'ada is blocked',
      'Actions',
      'Force Fresh Restart ada',
      'Fork Conversation of ada',
      'Keep Trying with ada',
      'Attach ada',
      'Show Log',
    ]);
  });

  it('offer what can be done where the conversation cannot be resumed', () => {
    const story = FleetStory.bound();
    story.hook({ event: 'UserPromptSubmit' }).hook({ event: 'Stop' });
    story.request('ada', { id: 'ada.2', mode: 'resume', expectedSessionId: 'session-1' }).launched('ada', 'ada.2');
    const exit = { how: 'exited', reading: 'conversation not found', detail: 'No conversation found.' } as const;
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.2', exit });
    deepStrictEqual(labels(view(story)), [
      'Causes',
      'ada is blocked',
      'Actions',
      'Force Fresh Restart ada',
      'Resume Other Conversation with ada',
      'Open Transcript of ada',
      'Resume ada',
      'Show Log',
    ]);
  });

  it('offer the next step of an agent that does not run, and the setting that its sentence names', () => {
    const story = new FleetStory().create('ada').request('ada');
    const sentence = 'tmux was not found. Install it, or set "bowline.tmuxPath".';
    story.tell({ kind: 'launch failed', name: 'ada', launchId: 'ada.1', code: 'tmux-missing', sentence });
    const shown = view(story);
    deepStrictEqual(labels(shown), [
      'Causes',
      'ada is blocked',
      'Actions',
      'Resume ada',
      'Open bowline.tmuxPath',
      'Show Log',
    ]);
  });

  it('tell why the gateway is away, and offer to start it', () => {
    const away: Connection = { kind: 'away', since: 0, reason: 'nothing listens' };
    const lines = causeLines(view(FleetStory.bound(), away), 'There is no Node.');
    deepStrictEqual(
      [
        lines.filter(({ kind }) => kind === 'cause'),
        lines.flatMap((line) => (line.kind === 'action' ? [line.action] : [])),
      ],
      [
        [
          {
            kind: 'cause',
            label: '$(debug-disconnect) The gateway is away: nothing listens',
            detail: 'There is no Node.',
          },
        ],
        [
          { kind: 'try again' },
          { kind: 'command', command: 'bowline.attach', agent: 'ada' },
          { kind: 'command', command: 'bowline.restart', agent: 'ada' },
          { kind: 'command', command: 'bowline.verifyBinding', agent: 'ada' },
          { kind: 'command', command: 'bowline.showLog' },
        ],
      ],
    );
  });
});
