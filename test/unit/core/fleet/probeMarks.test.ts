import { deepStrictEqual } from 'node:assert/strict';
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
});
