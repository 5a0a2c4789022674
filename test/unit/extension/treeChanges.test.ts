import { deepStrictEqual } from 'node:assert/strict';
import { select } from '../../../src/core/fleet/select.ts';
import { changedRows, needBadge, type ShownRows } from '../../../src/extension/treeChanges.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

function shown(...rows: readonly (readonly [name: string, look: string, group?: string])[]): ShownRows {
  return new Map(rows.map(([name, look, group = '']) => [name, { group, look }]));
}

describe('what of the Agents view is drawn anew', () => {
  const before = shown(['ada', 'idle'], ['bo', 'idle'], ['cy', 'idle']);

  it('is nothing, or the rows that look different', () => {
    deepStrictEqual(
      [
        changedRows(before, shown(['ada', 'idle'], ['bo', 'idle'], ['cy', 'idle'])),
        changedRows(before, shown(['ada', 'busy'], ['bo', 'idle'], ['cy', 'busy'])),
      ],
      [[], ['ada', 'cy']],
    );
  });

  it('is all when rows come, go, move or change their group, and when most of them changed', () => {
    const many = (look: string): ShownRows =>
      shown(...Array.from({ length: 30 }, (_, at) => [`a${at}`, look] as const));
    deepStrictEqual(
      [
        changedRows(before, shown(['ada', 'idle'], ['bo', 'idle'])),
        changedRows(shown(), before),
        changedRows(before, shown(['bo', 'idle'], ['ada', 'idle'], ['cy', 'idle'])),
        changedRows(before, shown(['ada', 'idle', 'Idle'], ['bo', 'idle'], ['cy', 'idle'])),
        changedRows(many('idle'), many('busy')),
      ],
      ['all', 'all', 'all', 'all', 'all'],
    );
  });
});

describe("the number on the view's icon", () => {
  it('is that of the agents that wait for a person, and names five of them', () => {
    const story = new FleetStory();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) {
      story.create(name).request(name).launched(name);
      story.tell({ kind: 'screen read', name, launchId: `${name}.1`, dialog: 'trust' });
    }
    const { agents } = select(story.state, { kind: 'connected' }, story.now);
    deepStrictEqual(
      [needBadge([]), needBadge(agents.slice(0, 1)), needBadge(agents)],
      [
        undefined,
        { value: 1, tooltip: 'Waiting for you: a1 is blocked' },
        {
          value: 6,
          tooltip:
            'Waiting for you: a1 is blocked, a2 is blocked, a3 is blocked, a4 is blocked, a5 is blocked, and 1 more',
        },
      ],
    );
  });
});
