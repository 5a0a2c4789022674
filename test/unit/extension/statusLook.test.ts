import { deepStrictEqual } from 'node:assert/strict';
import { type Connection, select } from '../../../src/core/fleet/select.ts';
import { statusLook } from '../../../src/extension/statusLook.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

function shown(
  story: FleetStory,
  connection: Connection = { kind: 'connected' },
  problems: Parameters<typeof statusLook>[1] = {},
): unknown {
  const look = statusLook(select(story.state, connection, story.now), problems);
  return look === undefined ? 'hidden' : [look.text, look.background];
}

function fleet(): FleetStory {
  return FleetStory.bound().tell({ kind: 'hands changed', holder: 'window-1' });
}

describe('the status bar item', () => {
  it('is calm, neutral, or has a background', () => {
    const { now } = fleet();
    const blocked = fleet().create('bo').request('bo').launched('bo');
    blocked.tell({ kind: 'screen read', name: 'bo', launchId: 'bo.1', dialog: 'trust' });
    deepStrictEqual(
      [
        shown(fleet()),
        shown(fleet(), { kind: 'away', since: now, reason: 'gone' }),
        shown(fleet(), { kind: 'away', since: now - 2_000, reason: 'gone' }),
        shown(blocked),
        shown(fleet().dropStream().wait(14_000)),
      ],
      [
        ['$(link) 1 bound', 'none'],
        ['$(sync~spin) reconnecting', 'none'],
        ['$(error) gateway down', 'error'],
        ['$(warning) 1 bound, 1 needs you: bo', 'warning'],
        ['$(error) 1 lost tools: ada', 'error'],
      ],
    );
  });

  it('is hidden without agents, unless the gateway cannot be started', () => {
    const away: Connection = { kind: 'away', since: 0, reason: 'gone' };
    deepStrictEqual(
      [
        shown(new FleetStory()),
        shown(new FleetStory(), away),
        shown(new FleetStory(), away, { startProblem: 'no Node' }),
      ],
      ['hidden', 'hidden', ['$(error) gateway down', 'error']],
    );
  });

  it('says in the tooltip, and to a screen reader, why things wait', () => {
    const story = fleet();
    const view = select(story.state, { kind: 'connected' }, story.now);
    const look = statusLook(view, { handsProblem: 'tmux was not found.' });
    deepStrictEqual(
      [look?.tooltip.split('\n'), look?.accessibleLabel],
      [
        ['Bowline: 1 bound', 'tmux was not found.', 'Click for causes and actions.'],
        'Bowline: 1 bound, tmux was not found.',
      ],
    );
  });
});
