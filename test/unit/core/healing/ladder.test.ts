import { deepStrictEqual } from 'node:assert/strict';
import { bindingHealth } from '../../../../src/core/binding/health.ts';
import type { Plan } from '../../../../src/core/fleet/plan.ts';
import { select } from '../../../../src/core/fleet/select.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const server = 'bowline-self';

/** An idle agent whose client gave up while the port was closed. */
function blackout(): FleetStory {
  const story = FleetStory.bound().wait(1_000).hook({ event: 'UserPromptSubmit' });
  return story.wait(1_000).hook({ event: 'Stop' }).restartGateway('was closed', 60_000).wait(1_500);
}

function effects(plan: Plan): readonly string[] {
  return plan.effects.map((effect) => (effect.kind === 'type' ? `type ${effect.text}` : effect.kind));
}

function attempts(story: FleetStory): readonly string[] {
  return (story.agent().incidents[server]?.attempts ?? []).map(
    ({ rung, outcome }) => `${rung} ${outcome ?? 'under way'}`,
  );
}

/** Reports the reconnect that is under way as typed. */
function typed(story: FleetStory): FleetStory {
  const effect = story.settle().effects.find((one) => one.kind === 'type');
  if (effect?.kind !== 'type') throw new Error('nothing is to be typed');
  return story.tell({ kind: 'rung acted', name: 'ada', server, attemptId: effect.attemptId });
}

describe('healing ladder, first form', () => {
  it('types one reconnect into an idle agent and closes the incident by a proven binding', () => {
    const story = blackout();
    const planned = effects(story.settle());
    typed(story);
    const whileWaiting = effects(story.settle());
    story.wait(150).connect();
    story.probe();
    const after = story.settle();
    deepStrictEqual(
      { planned, whileWaiting, after: effects(after), incidents: story.agent().incidents },
      { planned: ['type /mcp reconnect bowline-self'], whileWaiting: [], after: [], incidents: {} },
    );
  });

  it('tries twice, then resumes by the exact id, then asks', () => {
    const story = blackout();
    typed(story).wait(8_000);
    typed(story).wait(8_000);
    const launch = story.settle().effects;
    const resumed = story.agent().life;
    story.launched('ada', resumed.kind === 'launching' ? resumed.launch.id : '');
    story.wait(90_000);
    story.settle();
    deepStrictEqual(
      {
        launch: launch.map((effect) =>
          effect.kind === 'launch' ? [effect.launch.mode, effect.launch.expectedSessionId] : effect,
        ),
        attempts: attempts(story),
        asked: story.agent().incidents[server]?.end !== undefined,
        left: effects(story.settle()),
      },
      {
        launch: [['resume', 'session-1']],
        attempts: ['reconnect failed', 'reconnect failed', 'resume failed'],
        asked: true,
        left: [],
      },
    );
  });

  it('skips the reconnect of a process that was started with another port: it would ask a stranger', () => {
    const moved = (since: number, story: FleetStory): Plan => {
      const { epoch } = story.state;
      if (epoch === undefined) throw new Error('no epoch');
      return story.tell({ kind: 'epoch started', epoch: { ...epoch, portSince: since } }).settle();
    };
    const story = blackout();
    const launchedBefore = moved(story.now, story).effects.map(({ kind }) => kind);
    const later = blackout();
    deepStrictEqual(
      [launchedBefore, attempts(story), effects(moved(1_000_000, later))],
      [['launch'], ['resume under way'], ['type /mcp reconnect bowline-self']],
    );
  });

  it('does nothing while the agent works, and goes on when it is idle', () => {
    const story = blackout().hook({ event: 'UserPromptSubmit' });
    const busy = effects(story.settle());
    story.wait(1_000).hook({ event: 'Stop' });
    deepStrictEqual([busy, effects(story.settle())], [[], ['type /mcp reconnect bowline-self']]);
  });

  it('does not count a try that was put off, and waits longer each time', () => {
    const story = blackout();
    const pauses: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const effect = story.settle().effects.find((one) => one.kind === 'type');
      if (effect?.kind !== 'type') throw new Error('nothing is to be typed');
      const { attemptId } = effect;
      story.tell({
        kind: 'rung ended',
        name: 'ada',
        server,
        attemptId,
        outcome: 'put off',
        detail: 'a person is typing',
      });
      const { wakeAt = story.now } = story.settle();
      pauses.push(wakeAt - story.now);
      story.wait(wakeAt - story.now);
    }
    deepStrictEqual(pauses, [2_000, 4_000, 8_000]);
  });

  it('says what a try that was put off waits for', () => {
    const story = blackout();
    const effect = story.settle().effects.find((one) => one.kind === 'type');
    const attemptId = effect?.kind === 'type' ? effect.attemptId : '';
    const detail = 'the input line holds unsent text';
    story.tell({ kind: 'rung ended', name: 'ada', server, attemptId, outcome: 'put off', detail });
    const [row] = select(story.state, { kind: 'connected' }, story.now).agents;
    deepStrictEqual([row?.life, row?.detail], ['healing', `reconnect waits: ${detail}`]);
  });

  it('tries what a person asked for again, bound or not, until it is typed, and says so when it never is', () => {
    const asked = (): FleetStory => {
      const story = FleetStory.bound().hook({ event: 'Stop' });
      return story.tell({
        kind: 'rung started',
        name: 'ada',
        server,
        attemptId: 'one',
        rung: 'reconnect',
        by: 'person',
      });
    };
    const putOff = (story: FleetStory): void => {
      const effect = story.settle().effects.find((one) => one.kind === 'type');
      if (effect?.kind !== 'type') throw new Error('nothing is to be typed');
      const { attemptId } = effect;
      const detail = 'a person is typing';
      story.tell({ kind: 'rung ended', name: 'ada', server, attemptId, outcome: 'put off', detail });
    };
    const seen = (story: FleetStory): readonly unknown[] => {
      const [row] = select(story.state, { kind: 'connected' }, story.now).agents;
      return [row?.life, row?.detail, row?.worst, story.state.notices.map(({ sentence }) => sentence)];
    };
    const done = asked();
    putOff(done);
    done.settle();
    const waiting = seen(done);
    done.wait(2_000);
    typed(done).wait(150).connect();
    done.probe();
    done.settle();
    const never = asked();
    for (let now = never.now; never.now < now + 600_000; never.wait((never.settle().wakeAt ?? never.now) - never.now)) {
      if (never.settle().effects.some(({ kind }) => kind === 'type')) putOff(never);
      never.probe();
    }
    never.settle();
    const silent = asked();
    typed(silent).wait(8_000);
    silent.settle();
    deepStrictEqual(
      [waiting, seen(done), seen(never), seen(silent).slice(0, 2), silent.state.notices.length],
      [
        ['healing', 'reconnect waits: a person is typing', 'bound', []],
        ['ready', '', 'bound', []],
        [
          'ready',
          '',
          'bound',
          [
            'ada was not reconnected to bowline-self: a person is typing. Attach to ada and look, then use Reconnect MCP again.',
          ],
        ],
        ['ready', ''],
        1,
      ],
    );
  });

  it('leaves causes in the configuration to a person', () => {
    const story = FleetStory.bound().wait(1);
    story.tell({ kind: 'identity fault', cause: 'key wrong', name: 'ada', server, detail: 'wrong key' });
    const planned = story.settle();
    deepStrictEqual(
      [planned.effects.filter(({ kind }) => kind !== 'probe'), story.agent().incidents[server]?.end?.at],
      [[], story.now],
    );
  });

  it('types nothing for a client that dials again by itself', () => {
    const story = FleetStory.bound('2.1.160').restartGateway('was closed', 60_000).wait(5_000);
    deepStrictEqual(
      [effects(story.settle()), bindingHealth(story.agent(), server, story.state.epoch, story.now).state],
      [[], 'not checkable'],
    );
  });

  it('does nothing by itself when the policy is ask or off, and says so', () => {
    const moves = (['off', 'ask'] as const).map((healing) => {
      const story = blackout();
      story.tell({ kind: 'settings changed', settings: { ...story.state.settings, healing } });
      return [effects(story.settle()), story.agent().incidents[server]?.end !== undefined];
    });
    deepStrictEqual(moves, [
      [[], true],
      [[], true],
    ]);
  });

  it('restarts by healing at most once per 20 s in the fleet', () => {
    const story = blackout().create('bo').request('bo').launched('bo').hook({ event: 'SessionStart' }, 'bo');
    story.hook({ event: 'Stop', sessionId: 'session-2' }, 'bo').wait(20_000);
    for (let round = 0; round < 2; round += 1) {
      for (const effect of story.settle().effects) {
        if (effect.kind === 'type') {
          story.tell({ kind: 'rung acted', name: effect.name, server, attemptId: effect.attemptId });
        }
      }
      story.wait(8_000);
    }
    const first = story
      .settle()
      .effects.filter(({ kind }) => kind === 'launch')
      .map(({ name }) => name);
    deepStrictEqual(first.length, 1);
  });
});
