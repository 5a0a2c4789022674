import { deepStrictEqual } from 'node:assert/strict';
import { useOf } from '../../../src/node/hands/useOf.ts';
import type { TmuxCommands } from '../../../src/node/tmux/tmuxClient.ts';
import { livingPane as pane } from '../../harness/panes.ts';

/** A stand-in for tmux that lists clients as told and fails at everything else. */
function tmuxWith(clients: readonly string[]): TmuxCommands {
  return {
    command: ([name]) => (name === 'list-clients' ? Promise.resolve([...clients]) : Promise.reject(new Error(name))),
    commands: () => Promise.reject(new Error('looked at the screen')),
  };
}

describe('the use of an agent that is to be put to sleep', () => {
  const now = (): number => 1_000_000;

  it('is a terminal that is attached, however long nobody typed in it', async () => {
    deepStrictEqual(await useOf(tmuxWith(['1 999', '0 1']), [pane], now), 'a terminal is attached to it');
  });

  it('is not the connection of the hands themselves: then the screen is looked at', async () => {
    const outcome = await useOf(tmuxWith(['1 999']), [pane], now).catch((error: unknown) => String(error));
    deepStrictEqual(outcome, 'Error: looked at the screen');
  });

  it('is not there where no process lives', async () => {
    deepStrictEqual(await useOf(tmuxWith(['0 1']), [{ ...pane, dead: true }], now), undefined);
  });
});
