import { deepStrictEqual } from 'node:assert/strict';
import { Emitter } from '../../../src/base/events.ts';
import type { Connection } from '../../../src/core/fleet/select.ts';
import { FleetPresenter, nextChange } from '../../../src/extension/fleetPresenter.ts';
import { FleetStory } from '../../harness/fleetStory.ts';
import { waitFor } from '../../harness/waitFor.ts';

const connected: Connection = { kind: 'connected' };

describe('when the view changes by itself', () => {
  it('is never while all is calm', () => {
    const story = FleetStory.bound();
    deepStrictEqual([story.agent().life.kind, nextChange(story.state, connected, story.now)], ['running', undefined]);
  });

  it('is at the end of the grace time of a launch, and of the doubt about a binding', () => {
    const launching = new FleetStory().create().request();
    const doubted = FleetStory.bound().dropStream();
    deepStrictEqual(
      [
        nextChange(launching.state, connected, launching.now),
        nextChange(doubted.state, connected, doubted.now),
        nextChange(doubted.state, connected, doubted.now + 14_000),
      ],
      [launching.now + 60_000, doubted.now + 14_000, undefined],
    );
  });

  it('is every second while the gateway is away, unless there is nothing to show', () => {
    const away: Connection = { kind: 'away', since: 0, reason: 'gone' };
    const story = FleetStory.bound();
    deepStrictEqual(
      [nextChange(story.state, away, 5_000), nextChange(new FleetStory().state, away, 5_000)],
      [6_000, undefined],
    );
  });
});

describe('what the views get', () => {
  it('makes one change of many events, tells a lost connection at once, and turns it into an error by itself', async () => {
    const story = FleetStory.bound();
    const changed = new Emitter<undefined>();
    let connection: Connection = connected;
    const source = {
      get state() {
        return story.state;
      },
      get connection() {
        return connection;
      },
      onDidChange: changed.event,
    };
    const clock = (): number => story.now;
    const presenter = new FleetPresenter(source, clock);
    try {
      const seen: string[] = [];
      const atOnce: string[] = [];
      presenter.onDidChangeNow(({ agents, status }) =>
        atOnce.push(`${agents.length} ${status.text}, ${seen.length} told`),
      );
      presenter.onDidChange(({ agents, status }) => seen.push(`${agents.length} ${status.text}`));
      for (const name of ['bo', 'cy', 'di']) {
        story.create(name);
        changed.fire(undefined);
      }
      deepStrictEqual([presenter.view.agents.length, seen], [4, []]);
      await waitFor('what is drawn within a frame', () => atOnce.length > 0);
      await waitFor('the views to be told', () => seen.length > 0);
      deepStrictEqual(atOnce[0], '4 1 bound, 0 told');
      connection = { kind: 'away', since: story.now, reason: 'gone' };
      changed.fire(undefined);
      deepStrictEqual([seen, atOnce.at(-1)], [['4 1 bound', '4 reconnecting'], '4 reconnecting, 1 told']);
      story.wait(2_500);
      await waitFor('the error', () => seen.length > 2);
      deepStrictEqual(seen.at(-1), '4 gateway down');
    } finally {
      presenter.dispose();
    }
  });
});
