import assert from 'node:assert/strict';
import { SeenProbes } from '../../../src/extension/bindingHealthProbes.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

describe('the probes that a window has seen', () => {
  it('are kept of each endpoint, unanswered ones without a time, each once, and bounded', () => {
    const story = new FleetStory();
    story.create().request().launched();
    const seen = new SeenProbes();
    const server = 'bowline-self';
    const launchId = 'ada.1';
    const probe = (sentAt: number, roundTripMs?: number): void => {
      const probed = { name: 'ada', server, launchId, sentAt } as const;
      story.tell(
        roundTripMs === undefined
          ? { kind: 'probe failed', ...probed }
          : { kind: 'probe answered', ...probed, roundTripMs },
      );
      seen.look(story.state.agents);
    };
    probe(1_000, 4);
    seen.look(story.state.agents);
    story.tell({ kind: 'mcp proof seen', name: 'ada', server, launchId, session: 'digest' });
    seen.look(story.state.agents);
    probe(31_000);
    probe(36_000, 7);
    assert.deepStrictEqual(seen.of('ada', server), [{ at: 1_000, ms: 4 }, { at: 31_000 }, { at: 36_000, ms: 7 }]);
    for (let at = 100_000; at < 200_000; at += 1_000) probe(at, 5);
    const samples = seen.of('ada', server);
    assert.deepStrictEqual([samples.length, samples.at(-1)?.at], [40, 199_000]);
    seen.look({});
    assert.deepStrictEqual([seen.of('ada', server), seen.of('bo', server)], [[], []]);
  });
});
