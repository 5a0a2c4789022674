import { deepStrictEqual } from 'node:assert/strict';
import { configuredServers, currentLaunch, enabledServers, mayUseServer } from '../../../../src/core/fleet/agent.ts';
import { select } from '../../../../src/core/fleet/select.ts';
import type { OwnServer } from '../../../../src/core/mcp/ownServer.ts';
import { fleetEventSchema } from '../../../../src/protocol/fleetEvent.ts';
import { fleetStateSchema } from '../../../../src/protocol/fleetState.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const through = (name: string): OwnServer => ({ name, scope: 'user', shadows: [], way: 'through Bowline' });
const direct = (name: string, definition: string): OwnServer => ({ ...through(name), way: 'direct', definition });
const withheld: OwnServer = { ...through('held'), way: 'not given', reason: 'not approved' };

/** A running agent whose launch was given these. */
function given(servers: readonly OwnServer[]): FleetStory {
  const story = FleetStory.bound();
  const launchId = currentLaunch(story.agent())?.id ?? '';
  return story.tell({ kind: 'own servers read', name: 'ada', servers, launchId });
}

const reads = (story: FleetStory, servers: readonly OwnServer[]): FleetStory =>
  story.wait(1_000).tell({ kind: 'own servers read', name: 'ada', servers });

describe("an agent's own servers in the fleet's state", () => {
  const first = [through('lab'), direct('login', 'aaaa'), withheld];

  it('are endpoints where they are through Bowline', () => {
    const story = given(first);
    const [row] = select(story.state, { kind: 'connected' }, story.now).agents;
    deepStrictEqual(
      [enabledServers(story.agent()), row?.endpoints.map(({ server }) => server), mayUseServer(story.agent(), 'login')],
      [['bowline-self', 'lab'], ['bowline-self', 'lab'], false],
    );
  });

  const changes: readonly (readonly [string, readonly OwnServer[], 'relaunch' | 'nothing', readonly string[]])[] = [
    ['the same', first, 'nothing', ['bowline-self', 'lab']],
    [
      'another reason',
      [through('lab'), direct('login', 'aaaa'), { ...withheld, reason: 'x' }],
      'nothing',
      ['bowline-self', 'lab'],
    ],
    [
      'another scope behind a name',
      [{ ...through('lab'), scope: 'local' }, ...first.slice(1)],
      'nothing',
      ['bowline-self', 'lab'],
    ],
    ['one more', [...first, through('more')], 'relaunch', ['bowline-self', 'lab']],
    ['one less', first.slice(1), 'relaunch', ['bowline-self']],
    ['one that goes around from now on', [direct('lab', 'bbbb'), ...first.slice(1)], 'relaunch', ['bowline-self']],
    [
      'another definition of a direct one',
      [through('lab'), direct('login', 'cccc')],
      'relaunch',
      ['bowline-self', 'lab'],
    ],
    ['one that is withheld no more', [...first.slice(0, 2), through('held')], 'relaunch', ['bowline-self', 'lab']],
  ];
  for (const [what, servers, needed, endpoints] of changes) {
    it(`need ${needed} for ${what}`, () => {
      const story = reads(given(first), servers);
      const { relaunch } = story.agent();
      deepStrictEqual(
        [relaunch === undefined ? 'nothing' : 'relaunch', enabledServers(story.agent())],
        [needed, endpoints],
      );
    });
  }

  it('need no relaunch any more when they are as they were', () => {
    const story = reads(reads(given(first), [...first, through('more')]), first);
    deepStrictEqual([story.agent().relaunch, enabledServers(story.agent())], [undefined, ['bowline-self', 'lab']]);
  });

  it('of a process that an older Bowline has started are not guessed', () => {
    const story = FleetStory.bound();
    const before = story.agent();
    deepStrictEqual(reads(story, first).agent() === before, true);
  });

  it('of another launch do not count', () => {
    const story = given(first);
    story.tell({ kind: 'own servers read', name: 'ada', servers: [], launchId: 'ada.0' });
    deepStrictEqual(configuredServers(story.agent()), ['bowline-self', 'lab']);
  });

  it('and approvals pass the schemas of state and stream', () => {
    const at = 5;
    const approval = { server: 'lab', file: '/work/.mcp.json', digest: 'd' };
    const story = given(first);
    story.tell({ kind: 'server approved', name: 'ada', asker: 'w', ...approval });
    story.tell({ kind: 'server wants login', name: 'ada', server: 'lab', digest: 'e' });
    const events = [
      { at, kind: 'own servers read', name: 'ada', servers: first, launchId: 'x' },
      { at, kind: 'server approved', name: 'ada', asker: 'w', ...approval },
      { at, kind: 'server approval withdrawn', name: 'ada', asker: 'w', server: 'lab', digest: 'd' },
      { at, kind: 'server wants login', name: 'ada', server: 'lab', digest: 'e' },
    ];
    deepStrictEqual(
      [fleetStateSchema.parse(story.state), events.map((event) => fleetEventSchema.parse(event))],
      [story.state, events],
    );
    story.tell({ kind: 'server approval withdrawn', name: 'ada', asker: 'w', server: 'lab', digest: 'd' });
    deepStrictEqual([story.state.approvedServers, story.state.loginServers], [[], ['e']]);
  });
});
