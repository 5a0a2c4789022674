import { deepStrictEqual } from 'node:assert/strict';
import { cancelHeal, heal } from '../../../src/gateway/healCommands.ts';
import type { FleetPort } from '../../../src/gateway/ports.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

const server = 'bowline-self';

/** Two idle agents that lost their tools while the policy is `off`. */
function blackout(): FleetStory {
  const story = FleetStory.bound().create('bo').request('bo').launched('bo');
  story.hook({ event: 'SessionStart', sessionId: 'session-2' }, 'bo').connect('bo');
  story.probe('answered', 'bo');
  story.tell({ kind: 'settings changed', settings: { ...story.state.settings, healing: 'off' } });
  story.restartGateway('was closed', 60_000).wait(1_500);
  story.settle();
  return story;
}

function portOf(story: FleetStory): { readonly fleet: FleetPort; readonly clock: () => number } {
  return { fleet: story.port, clock: () => story.now };
}

function seen(story: FleetStory): readonly unknown[] {
  const typed = story.settle().effects.flatMap((effect) => (effect.kind === 'type' ? [effect.name] : []));
  return [typed, ['ada', 'bo'].map((name) => story.agent(name).incidents[server]?.end?.reason)];
}

describe('healing on demand', () => {
  it('begins for whom it is asked, whatever the policy, and begins anew what was given up', async () => {
    const story = blackout();
    const before = seen(story);
    await heal(portOf(story), [story.agent('bo')], 'window');
    const one = seen(story);
    await heal(portOf(story), [story.agent('ada'), story.agent('bo')], 'window');
    deepStrictEqual(
      [before, one, seen(story)],
      [
        [[], ['policy', 'policy']],
        [['bo'], ['policy', undefined]],
        [
          ['ada', 'bo'],
          [undefined, undefined],
        ],
      ],
    );
  });

  it('ends when it is called off: nothing more is typed, also when the policy is changed', async () => {
    const story = blackout();
    await heal(portOf(story), [story.agent('ada'), story.agent('bo')], 'window');
    story.settle();
    await cancelHeal(portOf(story), [story.agent('ada'), story.agent('bo')], 'window');
    story.tell({ kind: 'settings changed', settings: { ...story.state.settings, healing: 'auto' } });
    story.wait(3600_000);
    deepStrictEqual(seen(story), [[], ['called off', 'called off']]);
  });

  it('asks nothing of an agent that has its tools', async () => {
    const story = FleetStory.bound();
    await heal(portOf(story), [story.agent()], 'window');
    deepStrictEqual([story.settle().effects.length, story.agent().incidents], [0, {}]);
  });
});
