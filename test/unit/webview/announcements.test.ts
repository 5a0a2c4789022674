import assert from 'node:assert/strict';
import type { FleetView } from '../../../src/core/fleet/select.ts';
import { type AnnouncementMemory, announce, nothingAnnounced } from '../../../src/webview/announcements.ts';
import { agent, blackout, endpoint, fleet, noon, unbound } from './fleetViews.ts';

const away = causeOf('gateway was away');

function causeOf(cause: 'gateway was away' | 'client gave up'): string {
  return blackout(cause, []).what;
}

/** What is announced for each of the views in turn. */
function hear(
  views: readonly FleetView[],
  start: AnnouncementMemory = nothingAnnounced,
): readonly (readonly string[])[] {
  let memory = start;
  return views.map((view) => {
    const next = announce(memory, view);
    memory = next.memory;
    return next.sentences;
  });
}

function dark(...names: string[]): FleetView {
  const agents = ['ada', 'bo'].map((name) =>
    names.includes(name) ? agent(name, { endpoints: [unbound('gateway was away')] }) : agent(name),
  );
  return fleet(agents, { blackouts: names.length === 0 ? [] : [blackout('gateway was away', names)] });
}

const pending = (name: string): ReturnType<typeof agent> =>
  agent(name, { endpoints: [endpoint({ state: 'pending' })] });

describe('announcements', () => {
  it('tell a blackout and its end once, however often the view comes', () => {
    assert.deepStrictEqual(hear([dark(), dark('ada', 'bo'), dark('ada', 'bo'), dark('bo'), dark(), dark()]), [
      [],
      [`ada and bo lost their tools. ${away}`],
      [],
      ['ada has its tools again.'],
      ['bo has its tools again.'],
      [],
    ]);
  });

  it('tell only of the agents that joined a known blackout', () => {
    assert.deepStrictEqual(hear([dark('ada'), dark('ada', 'bo'), dark()]), [
      [`ada lost its tools. ${away}`],
      [`bo lost its tools. ${away}`],
      ['ada and bo have their tools again.'],
    ]);
  });

  it('wait with the recovery until the binding is proven', () => {
    const between = fleet([pending('ada'), agent('bo')]);
    assert.deepStrictEqual(hear([dark('ada'), between, dark('ada'), between, dark()]), [
      [`ada lost its tools. ${away}`],
      [],
      [],
      [],
      ['ada has its tools again.'],
    ]);
  });

  it('say nothing of an agent that was stopped or removed, and tell its next blackout anew', () => {
    const stopped = fleet([agent('ada', { life: 'stopped', endpoints: [endpoint({ state: 'off' })] })]);
    assert.deepStrictEqual(hear([dark('ada', 'bo'), stopped, dark(), dark('ada')]), [
      [`ada and bo lost their tools. ${away}`],
      [],
      [],
      [`ada lost its tools. ${away}`],
    ]);
  });

  it('tell another cause as well, each once', () => {
    const other = fleet([agent('ada', { endpoints: [unbound('client gave up')] })], {
      blackouts: [blackout('client gave up', ['ada'])],
    });
    assert.deepStrictEqual(hear([dark('ada'), other, dark('ada'), other]), [
      [`ada lost its tools. ${away}`],
      [`ada lost its tools. ${causeOf('client gave up')}`],
      [],
      [],
    ]);
  });

  it('tell that the gateway is away only when it is an error, and that it is back', () => {
    const gone = (severity: 'neutral' | 'error'): FleetView =>
      fleet([agent('ada')], {
        connection: { kind: 'away', since: noon, reason: 'connection refused' },
        status: { text: 'gateway down', detail: '', severity },
      });
    assert.deepStrictEqual(hear([gone('neutral'), dark(), gone('neutral'), gone('error'), gone('error'), dark()]), [
      [],
      [],
      [],
      ['The gateway is away. Showing the last known state.'],
      [],
      ['The gateway is back.'],
    ]);
  });

  it('go on where an earlier page ended', () => {
    const { memory } = announce(nothingAnnounced, dark('ada'));
    assert.deepStrictEqual(hear([dark('ada'), dark()], memory), [[], ['ada has its tools again.']]);
  });
});
