import { deepStrictEqual } from 'node:assert/strict';
import { lookAtScreen, whatForbidsEnding } from '../../../src/node/hands/look.ts';
import type { TmuxCommands } from '../../../src/node/tmux/tmuxClient.ts';
import { livingPane as pane } from '../../harness/panes.ts';

/** A stand-in for tmux whose only pane shows this input line. */
function tmuxShowing(input: string): TmuxCommands {
  const rule = '─'.repeat(40);
  return {
    command: () => Promise.resolve(['', rule, `❯ ${input}`, rule, '  ? for shortcuts']),
    commands: () => Promise.reject(new Error('not expected')),
  };
}

describe('a look at the screen before a restart', () => {
  it('takes the line that Bowline itself types for no work of a person, and any other text for one', async () => {
    const seen = async (input: string): Promise<readonly unknown[]> => [
      await lookAtScreen(tmuxShowing(input), pane),
      (await whatForbidsEnding(tmuxShowing(input), pane))?.split(':')[0],
    ];
    deepStrictEqual(
      {
        nothing: await seen(''),
        own: await seen('/mcp reconnect bowline-self'),
        menu: await seen('/mcp'),
        more: await seen('/mcp reconnect bowline-self and then'),
        text: await seen('write the tests'),
      },
      {
        nothing: ['empty input', undefined],
        own: ['empty input', undefined],
        menu: ['unsent input', 'unsent input'],
        more: ['unsent input', 'unsent input'],
        text: ['unsent input', 'unsent input'],
      },
    );
  });
});
