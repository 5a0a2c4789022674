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

/** Both reconnects are typed and do not help. */
function reconnectsFail(story: FleetStory): FleetStory {
  typed(story).wait(8_000);
  return typed(story).wait(8_000);
}

/** The restart that is planned comes up, is confirmed, and binds nothing within its grace time. */
function deafRestart(story: FleetStory): FleetStory {
  return restarted(story).wait(20_000);
}

function restarted(story: FleetStory): FleetStory {
  const { life } = (story.settle(), story.agent());
  if (life.kind !== 'launching') throw new Error(`no restart is planned, it is ${shown(story).join(', ')}`);
  const { id, mode } = life.launch;
  const sessionId = mode === 'fresh' ? 'session-2' : 'session-1';
  story.wait(100).launched('ada', id).wait(900);
  return story.hook({ event: 'SessionStart', source: mode === 'fresh' ? 'startup' : 'resume', sessionId }, 'ada', id);
}

function saved(story: FleetStory): FleetStory {
  const context = { at: story.now, sessionId: 'session-1', launchId: 'ada.1', origin: 'explicit', bytes: 9 } as const;
  return story.tell({ kind: 'context saved', name: 'ada', context });
}

function shown(story: FleetStory): readonly [string | undefined, string | undefined] {
  const [row] = select(story.state, { kind: 'connected' }, story.now).agents;
  return [row?.life, row?.detail];
}

function launchId(story: FleetStory): string {
  const { life } = story.agent();
  return life.kind === 'running' ? life.running.launch.id : '';
}

describe('the whole healing ladder', () => {
  it('resumes by the exact id when reconnecting fails, and is short: a process that is deaf has failed at once', () => {
    const story = reconnectsFail(blackout());
    const since = story.now;
    const launch = story.settle().effects.find((effect) => effect.kind === 'launch');
    restarted(story).connect('ada', '2.1.332', launchId(story));
    story.probe();
    story.settle();
    const deaf = deafRestart(reconnectsFail(blackout()));
    deaf.settle();
    deepStrictEqual(
      {
        launch: launch?.kind === 'launch' && [launch.launch.mode, launch.launch.expectedSessionId, launch.launch.cause],
        incidents: story.agent().incidents,
        shown: shown(story),
        deaf: attempts(deaf).slice(-1),
        within: deaf.now - since < 25_000,
      },
      {
        launch: ['resume', 'session-1', 'healing'],
        incidents: {},
        shown: ['ready', ''],
        deaf: ['resume failed'],
        within: true,
      },
    );
  });

  it('starts fresh once where the saved context is good, and that binds', () => {
    const story = deafRestart(reconnectsFail(saved(blackout())));
    story.settle();
    const before = attempts(story);
    const { life } = story.agent();
    restarted(story).connect('ada', '2.1.332', launchId(story));
    story.probe();
    story.settle();
    deepStrictEqual(
      [
        life.kind === 'launching' && [life.launch.mode, life.launch.cause],
        before,
        shown(story),
        story.agent().incidents,
      ],
      [
        ['fresh', 'healing'],
        ['reconnect failed', 'reconnect failed', 'resume failed', 'fresh under way'],
        ['ready', ''],
        {},
      ],
    );
  });

  it('asks instead of starting fresh where the save is missing or stale, and leaves the process alone', () => {
    const old = saved(blackout());
    old.wait(400_000).hook({ event: 'UserPromptSubmit' }).wait(1_000).hook({ event: 'Stop' });
    const seen = [blackout(), old].map((start) => {
      const story = deafRestart(reconnectsFail(start));
      const left = story.settle().effects;
      const end = story.agent().incidents[server]?.end;
      return [left, story.agent().life.kind, end?.kind, end?.reason, shown(story)[0]];
    });
    deepStrictEqual(seen, [
      [[], 'running', 'asked', 'guard', 'blocked'],
      [[], 'running', 'asked', 'guard', 'blocked'],
    ]);
  });

  it('is dead with its reason when fresh did not help either; it goes on when a person asks, and not before', () => {
    const story = deafRestart(deafRestart(reconnectsFail(saved(blackout()))));
    story.settle();
    const dead = shown(story);
    const kept = story.agent().life.kind;
    const idle = effects(story.wait(7200_000).settle());
    story.tell({ kind: 'incident reopened', name: 'ada', server });
    deepStrictEqual(
      { dead, kept, idle, reopened: effects(story.settle()) },
      {
        dead: [
          'dead',
          'healing failed: Restart did not help: tried reconnect (2 times), resume, fresh. Heal Now tries everything again.',
        ],
        kept: 'running',
        idle: [],
        reopened: ['type /mcp reconnect bowline-self'],
      },
    );
  });

  it('restarts one that never took a prompt once, without a conversation, and says so', () => {
    const story = deafRestart(reconnectsFail(FleetStory.bound().restartGateway('was closed', 60_000).wait(1_500)));
    story.settle();
    deepStrictEqual(
      { shown: shown(story), attempts: attempts(story), launches: story.agent().launchCount },
      {
        shown: [
          'dead',
          'healing failed: Restart did not help: tried reconnect (2 times), fresh. Heal Now tries everything again.',
        ],
        attempts: ['reconnect failed', 'reconnect failed', 'fresh failed'],
        launches: 2,
      },
    );
  });

  it('judges a launch that a person asked for anew, with the restarts counted that did not help', () => {
    const story = deafRestart(deafRestart(reconnectsFail(saved(blackout()))));
    story.settle();
    story.wait(1_000).request('ada', { id: 'ada.9', requestedAt: story.now }).launched('ada', 'ada.9').wait(900);
    const starting = shown(story);
    story.hook({ event: 'SessionStart', source: 'startup', sessionId: 'session-9' }, 'ada', 'ada.9').wait(20_000);
    const first = effects(story.settle());
    reconnectsFail(story).settle();
    deepStrictEqual([starting[0], first, shown(story)[0]], ['verifying', ['type /mcp reconnect bowline-self'], 'dead']);
  });

  it('never resumes a poisoned conversation', () => {
    const story = blackout();
    for (let turn = 0; turn < 2; turn += 1) {
      story.wait(1_000).hook({ event: 'UserPromptSubmit' }).wait(1_000);
      story.hook({ event: 'StopFailure', error: 'poisoned: thinking blocks' });
    }
    reconnectsFail(story).settle();
    deepStrictEqual(
      [attempts(story), story.agent().incidents[server]?.end?.reason, story.agent().launchCount],
      [['reconnect failed', 'reconnect failed'], 'guard', 1],
    );
  });

  it('counts a resume whose process did not stay, also after the next start', () => {
    const story = reconnectsFail(blackout());
    restarted(story);
    const exit = { how: 'exited', status: 3, reading: 'other', detail: 'ended with status 3' } as const;
    story.tell({ kind: 'process ended', name: 'ada', launchId: launchId(story), exit });
    story.settle();
    deepStrictEqual(
      [story.agent().life.kind, attempts(story)],
      ['dead', ['reconnect failed', 'reconnect failed', 'resume failed']],
    );
  });

  it('counts no restart that was refused because somebody works at the screen, and tries again', () => {
    const story = reconnectsFail(blackout());
    const sentence = 'the input line holds unsent text';
    const putOff: unknown[] = [];
    for (let round = 0; round < 3; round += 1) {
      story.settle();
      const { life } = story.agent();
      const id = life.kind === 'launching' ? life.launch.id : '';
      story.tell({ kind: 'launch failed', name: 'ada', launchId: id, code: 'guard-blocked', sentence });
      story.settle();
      putOff.push([attempts(story).at(-1), shown(story)]);
      story.wait(20_000);
    }
    story.settle();
    const expected = ['resume put off', ['healing', `resume waits: ${sentence}`]];
    deepStrictEqual(
      [putOff, story.agent().life.kind, attempts(story).at(-1)],
      [[expected, expected, expected], 'launching', 'resume under way'],
    );
  });

  it('restarts once for all endpoints of an agent', () => {
    const other = 'bowline-memory';
    const story = new FleetStory()
      .create('ada', { [server]: 'on', [other]: 'on' })
      .request()
      .launched();
    story.wait(1_000).hook({ event: 'SessionStart', source: 'startup' }).wait(1_000);
    story.hook({ event: 'UserPromptSubmit' }).wait(1_000).hook({ event: 'Stop' }).wait(60_000);
    for (let round = 0; round < 6 && story.agent().life.kind === 'running'; round += 1) {
      for (const effect of story.settle().effects) {
        if (effect.kind !== 'type') continue;
        story.tell({ kind: 'rung acted', name: 'ada', server: effect.server, attemptId: effect.attemptId });
      }
      story.wait(8_000).settle();
    }
    deafRestart(story).settle();
    const rungs = [server, other].map((one) => {
      return story.agent().incidents[one]?.attempts.map(({ rung, outcome }) => `${rung} ${outcome ?? 'under way'}`);
    });
    const all = ['reconnect failed', 'reconnect failed', 'resume failed'];
    deepStrictEqual([rungs, story.agent().launchCount], [[all, all], 2]);
  });

  it('begins nothing while nobody has the hands, and at once when somebody does', () => {
    const story = blackout().tell({ kind: 'hands changed' });
    const waiting = [effects(story.settle()), attempts(story)];
    story.wait(600_000).settle();
    story.tell({ kind: 'hands changed', holder: 'window' });
    deepStrictEqual([waiting, effects(story.settle())], [[[], []], ['type /mcp reconnect bowline-self']]);
  });

  it('gives up after three restarts within an hour', () => {
    const story = blackout();
    for (let round = 0; round < 3; round += 1) {
      // Each time it binds again, and is deaf a while later.
      restarted(reconnectsFail(story)).connect('ada', '2.1.332', launchId(story));
      story.probe();
      story.settle();
      story
        .wait(60_000)
        .restartGateway('was closed', 60_000, `epoch-${round + 3}`)
        .wait(1_500);
    }
    reconnectsFail(story).settle();
    deepStrictEqual(
      [shown(story), story.agent().launchCount],
      [
        [
          'dead',
          'crash loop: 3 restarts within an hour did not help. Look at Show Log; Heal Now tries everything again.',
        ],
        4,
      ],
    );
  });
});

/** A client whose stream is open and that answers no probe. */
function silent(version = '2.1.332'): FleetStory {
  const story = FleetStory.bound(version).hook({ event: 'UserPromptSubmit' });
  return noAnswers(story.wait(30_000));
}

function noAnswers(story: FleetStory): FleetStory {
  story.probe('failed');
  story.probe('failed');
  return story;
}

/** Reports that the stream was dropped as the plan wants it. */
function dropped(story: FleetStory): FleetStory {
  const effect = story.settle().effects.find((one) => one.kind === 'nudge');
  if (effect?.kind !== 'nudge') throw new Error('nobody is to be nudged');
  story.dropStream().tell({ kind: 'rung acted', name: 'ada', server, attemptId: effect.attemptId });
  return story;
}

describe('a client that answers nothing on its open stream', () => {
  it('is nudged, also in a turn, and that is proven by a probe on its new stream', () => {
    const story = dropped(silent()).wait(1_000);
    const underWay = [attempts(story), effects(story.settle()), shown(story)];
    story.connect();
    story.probe();
    story.settle();
    deepStrictEqual(
      [underWay, story.agent().incidents, shown(story)],
      [[['nudge under way'], [], ['healing', 'nudge']], {}, ['ready', '']],
    );
  });

  it('is nudged twice when it comes back and is silent again, then reconnected when it is idle', () => {
    const story = dropped(silent()).wait(1_000).connect();
    noAnswers(story);
    story.settle();
    dropped(story).wait(1_000).connect();
    noAnswers(story);
    const busy = effects(story.settle());
    story.hook({ event: 'Stop' });
    deepStrictEqual(
      [attempts(story), busy, effects(story.settle())],
      [['nudge failed', 'nudge failed'], [], ['type /mcp reconnect bowline-self']],
    );
  });

  it('is reconnected when it does not come back, and never nudged where that would cost it its stream for good', () => {
    const gone = dropped(silent()).wait(14_000);
    gone.settle();
    gone.hook({ event: 'Stop' });
    const old = silent('2.1.160').hook({ event: 'Stop' });
    deepStrictEqual(
      [attempts(gone), effects(gone.settle()), effects(old.settle())],
      [['nudge failed'], ['type /mcp reconnect bowline-self'], ['type /mcp reconnect bowline-self']],
    );
  });
});

describe('healing at one endpoint', () => {
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
    const launches = (): { readonly name: string; readonly id: string }[] =>
      story.settle().effects.flatMap((effect) => {
        return effect.kind === 'launch' ? [{ name: effect.name, id: effect.launch.id }] : [];
      });
    const first = launches();
    deepStrictEqual(first.length, 1);
    // One that a person replaces at once was a restart all the same.
    const [{ name, id } = { name: '', id: '' }] = first;
    story
      .launched(name, id)
      .wait(1)
      .request(name, { id: `${name}.by-person` });
    deepStrictEqual(launches(), [{ name, id: `${name}.by-person` }]);
  });
});
