import assert from 'node:assert/strict';
import { probeFigures } from '../../../src/webview/probeFigures.ts';
import { selectedPlace, subjectAt } from '../../../src/webview/selection.ts';
import { agent, blackout, endpoint, fleet, noon, unbound } from './fleetViews.ts';

describe('selection', () => {
  const one = agent('ada', { endpoints: [endpoint(), { ...unbound('client gave up'), server: 'github' }] });

  it('is what the person chose, and of a single agent what is not well, until it is closed', () => {
    const two = [one, agent('bo')];
    assert.deepStrictEqual(
      [
        selectedPlace(undefined, [one]),
        selectedPlace(undefined, [agent('ada')]),
        selectedPlace('nothing', [one]),
        selectedPlace(undefined, two),
        selectedPlace({ agent: 'bo' }, two),
        selectedPlace({ agent: 'gone' }, two),
        selectedPlace(undefined, []),
      ],
      [
        { agent: 'ada', server: 'github' },
        { agent: 'ada', server: 'bowline-self' },
        undefined,
        undefined,
        { agent: 'bo' },
        undefined,
        undefined,
      ],
    );
  });

  it('has the blackout, the events and the probes of its place alone', () => {
    const lost = blackout('client gave up', ['ada']);
    const event = { at: noon, agent: 'ada', text: 'stream dropped' };
    const view = fleet([one, agent('bo')], { blackouts: [lost], timeline: [event, { ...event, agent: 'bo' }] });
    const probes = { agent: 'ada', server: 'github', probes: [{ at: noon, ms: 4 }] };
    const at = (place: { agent: string; server?: string }) => subjectAt(place, view.agents, view, probes);
    assert.deepStrictEqual(
      [
        at({ agent: 'ada', server: 'github' }),
        at({ agent: 'ada' })?.probes,
        at({ agent: 'bo' })?.blackout,
        at({ agent: 'gone' }),
      ],
      [
        { row: one, server: 'github', blackout: lost, probes: probes.probes, events: [event] },
        [],
        undefined,
        undefined,
      ],
    );
  });

  it('has what happened to the whole fleet among its events', () => {
    const slept = { at: noon, kind: 'epoch', text: 'the machine slept' } as const;
    const view = fleet([one], { timeline: [slept] });
    assert.deepStrictEqual(subjectAt({ agent: 'ada' }, view.agents, view, undefined)?.events, [slept]);
  });
});

describe('figures of probes', () => {
  it('are of those that were answered, and count the others', () => {
    const probes = [{ at: 1, ms: 3.4 }, { at: 2 }, { at: 3, ms: 40 }, { at: 4, ms: 5.6 }];
    assert.deepStrictEqual(probeFigures(probes), { latest: 6, median: 6, worst: 40, unanswered: 1 });
    assert.deepStrictEqual([probeFigures([]), probeFigures([{ at: 1 }])], [undefined, undefined]);
  });
});
