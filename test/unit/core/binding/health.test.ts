import { deepStrictEqual } from 'node:assert/strict';
import { bindingHealth, type Health, streamGoneForGood } from '../../../../src/core/binding/health.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const server = 'bowline-self';

function health(story: FleetStory): Health {
  return bindingHealth(story.agent(), server, story.state.epoch, story.now);
}

/** State, and cause where there is one. */
function summary(story: FleetStory): string {
  const { state, ...rest } = health(story);
  return 'cause' in rest ? `${state}: ${rest.cause}` : state;
}

describe('binding health', () => {
  it('goes from pending to bound, and only by a probe', () => {
    const seen: string[] = [];
    const story = new FleetStory().create();
    seen.push(summary(story));
    seen.push(summary(story.request()));
    seen.push(summary(story.launched()));
    seen.push(summary(story.wait(2_000).hook({ event: 'SessionStart' })));
    seen.push(summary(story.connect()));
    story.probe();
    seen.push(summary(story));
    deepStrictEqual(seen, ['off', 'pending', 'pending', 'pending', 'suspect: stream dropped', 'bound']);
  });

  it('does not take initialize without tools/list for bound', () => {
    const story = new FleetStory().create().request().launched().hook({ event: 'SessionStart' });
    const endpoint = { name: 'ada', server, launchId: 'ada.1', session: 'digest' };
    story.tell({
      ...endpoint,
      kind: 'mcp initialized',
      client: { name: 'claude-code', version: '2.1.332', protocolVersion: '2025-11-25' },
    });
    story.tell({ ...endpoint, kind: 'mcp stream opened' });
    story.probe();
    const young = summary(story);
    deepStrictEqual([young, summary(story.wait(20_000))], ['pending', 'unbound: tools never listed']);
  });

  it('gives 20 s after SessionStart and 60 s after the process start', () => {
    const confirmed = new FleetStory().create().request().launched().hook({ event: 'SessionStart' });
    const silent = new FleetStory().create().request().launched();
    deepStrictEqual(
      [
        summary(confirmed.wait(19_999)),
        summary(confirmed.wait(1)),
        summary(silent.wait(59_999)),
        summary(silent.wait(1)),
      ],
      ['pending', 'unbound: never connected', 'pending', 'unbound: never connected'],
    );
  });

  it('calls a bound endpoint degraded while the server behind it fails, in this run of the gateway', () => {
    const story = FleetStory.bound();
    const subject = { name: 'ada', server, launchId: 'ada.1' };
    story.wait(1_000).tell({ ...subject, kind: 'upstream failed', detail: 'no answer' });
    const since = story.now;
    story.wait(1_000).tell({ ...subject, kind: 'upstream failed', detail: 'refused' });
    const failing = health(story);
    story.tell({ ...subject, kind: 'upstream answered' });
    const working = summary(story);
    story.tell({ ...subject, kind: 'upstream failed', detail: 'refused' });
    story.restartGateway('kept open', 100).connect();
    story.probe();
    deepStrictEqual(
      [failing, working, summary(story)],
      [{ state: 'degraded', detail: 'refused', since }, 'bound', 'bound'],
    );
  });

  it('names a dialog as the cause', () => {
    const story = new FleetStory().create().request().launched();
    story.tell({ kind: 'screen read', name: 'ada', launchId: 'ada.1', dialog: 'trust' }).wait(60_000);
    deepStrictEqual(summary(story), 'unbound: trust dialog');
  });

  it('is suspect after a new epoch, and bound again when the waiting client is back (port kept open)', () => {
    const story = FleetStory.bound().restartGateway('kept open', 20_000);
    const seen = [summary(story)];
    story.wait(30).tell({ kind: 'mcp stream opened', name: 'ada', server, launchId: 'ada.1', session: 'digest' });
    seen.push(summary(story));
    story.probe();
    seen.push(summary(story));
    deepStrictEqual(seen, ['suspect: epoch changed', 'suspect: stream dropped', 'bound']);
  });

  it('knows that a client from 2.1.280 on has given up 14 s after its stream dropped', () => {
    const story = FleetStory.bound().dropStream();
    deepStrictEqual(
      [summary(story.wait(13_999)), summary(story.wait(1))],
      ['suspect: stream dropped', 'unbound: client gave up'],
    );
  });

  it('unbinds at once after a port that was closed for so long that no client tries any more', () => {
    const [long, barelyLong] = [60_000, 19_000].map((ms) => FleetStory.bound().restartGateway('was closed', ms));
    deepStrictEqual(
      [long, barelyLong].map((story) => story && summary(story)),
      ['unbound: gateway was away', 'unbound: gateway was away'],
    );
  });

  it('gives a client a moment to come back where its last try may just have been', () => {
    const story = FleetStory.bound().restartGateway('was closed', 18_999);
    deepStrictEqual(
      [summary(story.wait(1_499)), summary(story.wait(1))],
      ['suspect: epoch changed', 'unbound: gateway was away'],
    );
  });

  it('lets a client that still retries come back after a short closed port', () => {
    const story = FleetStory.bound().restartGateway('was closed', 3_000);
    deepStrictEqual(
      [summary(story.wait(10_900)), summary(story.wait(200))],
      ['suspect: epoch changed', 'unbound: gateway was away'],
    );
  });

  it('waits for the stream of a client that has just come back after a closed port', () => {
    const story = FleetStory.bound().restartGateway('was closed', 60_000).wait(1_600);
    const away = summary(story);
    const client = { name: 'claude-code', version: '2.1.332', protocolVersion: '2025-11-25' };
    story.tell({ kind: 'mcp initialized', name: 'ada', server, launchId: 'ada.1', session: 'new', client });
    deepStrictEqual([away, summary(story)], ['unbound: gateway was away', 'suspect: stream dropped']);
  });

  it('calls a client below 2.1.280 without a stream not checkable, and lets only it be sent to initialize anew', () => {
    const older = FleetStory.bound('2.1.160').restartGateway('was closed', 60_000).wait(1_500);
    const newer = FleetStory.bound('2.1.332').restartGateway('was closed', 60_000).wait(1_500);
    const goneForGood = (story: FleetStory): boolean => {
      const record = story.agent().bindings[server];
      return (
        record !== undefined &&
        story.state.epoch !== undefined &&
        streamGoneForGood(record, story.state.epoch, story.now)
      );
    };
    deepStrictEqual(
      [summary(older), goneForGood(older), goneForGood(newer), goneForGood(FleetStory.bound('2.1.160'))],
      ['not checkable', true, false, false],
    );
  });

  it('is unbound by an identity fault at once, and bound again by a later proof', () => {
    const story = FleetStory.bound().wait(1);
    story.tell({ kind: 'identity fault', cause: 'key wrong', name: 'ada', server, detail: 'wrong key' });
    const faulty = summary(story);
    story.wait(31_000);
    story.probe();
    deepStrictEqual([faulty, summary(story)], ['unbound: key wrong', 'bound']);
  });

  it('counts two unanswered probes as a client that gave up', () => {
    const story = FleetStory.bound().wait(30_000);
    story.probe('failed');
    const once = summary(story);
    story.probe('failed');
    deepStrictEqual([once, summary(story)], ['suspect: probe late', 'unbound: client gave up']);
  });

  for (const minutes of [20, -20]) {
    it(`marks everything suspect when the clock jumps ${minutes} minutes, and restarts nothing that answers`, () => {
      const story = FleetStory.bound();
      story.now = 100_000_000;
      story.dropStream().connect();
      story.probe();
      const launches = story.agent().launchCount;
      story.wait(minutes * 60_000).tell({ kind: 'host resumed' });
      const doubted = summary(story);
      const isAsked = story.probe();
      const settled = [summary(story), story.settle().effects, story.agent().incidents, story.agent().launchCount];
      // Hooks count again at once, and the next probe comes in its time.
      story.wait(1_000).hook({ event: 'UserPromptSubmit' });
      const { activity } = story.agent();
      const { wakeAt = 0 } = story.settle();
      deepStrictEqual(
        [doubted, isAsked, settled, activity.kind, wakeAt > story.now && wakeAt <= story.now + 30_000],
        ['suspect: host slept', true, ['bound', [], {}, launches], 'busy', true],
      );
    });
  }

  it('sends no flood of probes where the clock was set back by less than a jump', () => {
    const story = FleetStory.bound().dropStream().connect().wait(-3_000);
    story.probe();
    deepStrictEqual(story.settle().effects, []);
    story.wait(3_000);
    deepStrictEqual([story.probe(), summary(story), story.settle().effects], [true, 'bound', []]);
  });

  it('counts nothing of an ended launch', () => {
    const story = FleetStory.bound();
    story.request('ada', { id: 'ada.2', mode: 'resume', expectedSessionId: 'session-1' }).launched('ada', 'ada.2');
    const before = story.state;
    story.connect('ada', '2.1.332', 'ada.1');
    deepStrictEqual([summary(story), story.state === before], ['pending', true]);
  });
});
