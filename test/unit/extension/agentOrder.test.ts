import { deepStrictEqual } from 'node:assert/strict';
import { type AgentRow, select } from '../../../src/core/fleet/select.ts';
import {
  type AgentGrouping,
  belongsTo,
  filterAgents,
  groupAgents,
  orderAgents,
} from '../../../src/extension/agentOrder.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

function rows(story: FleetStory): readonly AgentRow[] {
  return select(story.state, { kind: 'connected' }, story.now).agents;
}

/** ada is idle, bo waits at a dialog, cy is stopped, di works; ed has lost its tools. */
function fleet(): FleetStory {
  const story = FleetStory.bound();
  for (const name of ['bo', 'cy', 'di', 'ed']) story.create(name);
  for (const name of ['bo', 'di', 'ed']) story.request(name).launched(name);
  story.tell({ kind: 'screen read', name: 'bo', launchId: 'bo.1', dialog: 'trust' });
  for (const name of ['di', 'ed']) {
    story.hook({ event: 'SessionStart', source: 'startup', sessionId: `of-${name}` }, name).connect(name);
    story.probe('answered', name);
  }
  story.settle();
  story.hook({ event: 'UserPromptSubmit', sessionId: 'of-di' }, 'di');
  return story.dropStream('ed').wait(14_000);
}

const folders = ['/work/cy', '/work/di/'];

describe('the order of agents', () => {
  it('has those first that wait for a person, then those of the open folders, each by name', () => {
    deepStrictEqual(
      orderAgents(rows(fleet()), folders).map(({ name }) => name),
      ['bo', 'cy', 'di', 'ada', 'ed'],
    );
  });

  it('belongs to a folder only what is in it, not beside it', () => {
    deepStrictEqual(
      ['/work/a', '/work/a/b', '/work/ab', '/work'].map((directory) => belongsTo(directory, ['/work/a'])),
      [true, true, false, false],
    );
  });

  it('parts them by folder or by state, with no empty group', () => {
    const ordered = orderAgents(rows(fleet()), folders);
    const groups = (grouping: AgentGrouping): unknown =>
      groupAgents(ordered, grouping, folders).map(({ label, agents }) => [label, ...agents.map(({ name }) => name)]);
    deepStrictEqual(
      [groups('none'), groups('workspace'), groups('state'), groupAgents([], 'none', folders)],
      [
        [[undefined, 'bo', 'cy', 'di', 'ada', 'ed']],
        [
          ['cy', 'cy'],
          ['di', 'di'],
          ['Other Directories', 'bo', 'ada', 'ed'],
        ],
        [
          ['Waiting for You', 'bo'],
          ['Without Tools', 'ed'],
          ['Working', 'di'],
          ['Idle', 'ada'],
          ['Stopped', 'cy'],
        ],
        [],
      ],
    );
  });

  it('keeps those that hold every word of a filter', () => {
    const all = rows(fleet());
    const found = (filter: string): readonly string[] =>
      filterAgents(all, filter, ({ life, activity }) => `${life}, ${activity}`).map(({ name }) => name);
    deepStrictEqual(
      [found(''), found(' READY '), found('work/b'), found('ready busy'), found('nobody')],
      [['ada', 'bo', 'cy', 'di', 'ed'], ['ada', 'di'], ['bo'], ['di'], []],
    );
  });
});
