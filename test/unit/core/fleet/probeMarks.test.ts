import { deepStrictEqual } from 'node:assert/strict';
import { bindingHealth } from '../../../../src/core/binding/health.ts';
import { bindingTimes } from '../../../../src/core/binding/times.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

describe('probes of healthy bindings', () => {
  it('come due together, each at most 30 s after the one before, whenever the agents were bound', () => {
    const story = new FleetStory();
    for (const [name, milliseconds] of [
      ['ada', 0],
      ['bo', 1_700],
      ['cy', 2_400],
    ] as const) {
      story.wait(milliseconds).create(name).request(name).launched(name).hook({ event: 'SessionStart' }, name);
      story.connect(name);
      story.probe('answered', name);
    }
    const last = story.now;
    const due = (): string[] => story.plan().effects.flatMap((one) => (one.kind === 'probe' ? [one.name] : []));
    const wakeAt = story.plan().wakeAt ?? 0;
    const before = due();
    story.wait(wakeAt - last);
    deepStrictEqual(
      [before, due(), wakeAt % bindingTimes.probeEvery, wakeAt - last <= bindingTimes.probeEvery],
      [[], ['ada', 'bo', 'cy'], 0, true],
    );
  });

  const servers = ['bowline-self', 'bowline-messaging', 'bowline-memory'];
  const withServers = (): FleetStory => {
    const story = new FleetStory().create('ada', Object.fromEntries(servers.map((server) => [server, 'on'])));
    story.request().launched().hook({ event: 'SessionStart' });
    for (const server of servers) story.connect('ada', '2.1.332', 'ada.1', server);
    while (story.probe());
    return story;
  };
  const due = (story: FleetStory): string[] =>
    story.settle().effects.flatMap((one) => (one.kind === 'probe' ? [one.server] : []));
  const failAll = (story: FleetStory): void => {
    const sentAt = story.now;
    const effects = story.settle().effects.filter((one) => one.kind === 'probe');
    story.wait(5_000);
    for (const { name, server, launchId } of effects) {
      story.tell({ kind: 'probe failed', name, server, launchId, sentAt });
    }
  };
  const toNextMark = (story: FleetStory): void => {
    story.wait(bindingTimes.probeEvery - (story.now % bindingTimes.probeEvery));
  };

  it('take the endpoints of one process by turns, one every 30 s', () => {
    const story = withServers();
    const seen = [1, 2, 3, 4].map(() => {
      toNextMark(story);
      const before = due(story);
      story.probe();
      return [before, due(story)];
    });
    deepStrictEqual(
      [seen.map(([before]) => before?.length), new Set(seen.slice(0, 3).flat(2)).size, seen.map(([, after]) => after)],
      [[1, 1, 1, 1], 3, [[], [], [], []]],
    );
  });

  it('are sent to all endpoints of a process when one of them fails: it may be stopped as a whole', () => {
    const story = withServers();
    toNextMark(story);
    const [first = ''] = due(story);
    failAll(story);
    const then = due(story).sort();
    failAll(story);
    failAll(story);
    const dueAgain = due(story);
    const states = servers.map((server) => bindingHealth(story.agent(), server, story.state.epoch, story.now).state);
    deepStrictEqual(
      [servers.includes(first), then, states, dueAgain],
      [true, servers.toSorted(), servers.map(() => 'unbound'), []],
    );
  });
});
