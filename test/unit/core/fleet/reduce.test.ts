import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import type { ProcessExit } from '../../../../src/core/fleet/events.ts';
import { resumeOrFresh } from '../../../../src/core/fleet/launching.ts';
import { fleetStateSchema } from '../../../../src/protocol/fleetState.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

function exit(parts: Partial<ProcessExit> = {}): ProcessExit {
  return { how: 'exited', status: 1, reading: 'other', detail: 'ended with status 1', ...parts };
}

function life(story: FleetStory): string {
  const { life: stored } = story.agent();
  return 'reason' in stored ? `${stored.kind}: ${stored.reason}` : stored.kind;
}

function ends(story: FleetStory): readonly string[] {
  return story.agent().launches.map(({ launch, reason }) => `${launch.id} ${reason}`);
}

describe('life of an agent', () => {
  it('launches, runs, stops, each launch with one end reason', () => {
    const story = new FleetStory().create();
    const seen = [life(story)];
    seen.push(life(story.request()), life(story.launched()));
    seen.push(life(story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'keep' })));
    seen.push(life(story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit: exit() })));
    deepStrictEqual(
      { seen, ends: ends(story) },
      { seen: ['stopped', 'launching', 'running', 'stopping: released', 'stopped'], ends: ['ada.1 released'] },
    );
  });

  it('keeps the old process when the new launch cannot start, and replaces it when it can', () => {
    const failing = FleetStory.bound().request('ada', { id: 'ada.2' });
    failing.tell({ kind: 'launch failed', name: 'ada', launchId: 'ada.2', code: 'tmux-failed', sentence: 'no' });
    const working = FleetStory.bound().request('ada', { id: 'ada.2' }).launched('ada', 'ada.2');
    deepStrictEqual(
      [life(failing), ends(failing), failing.state.notices.map(({ sentence }) => sentence)],
      ['running', ['ada.2 crashed'], ['ada was not restarted and goes on as before: no']],
    );
    deepStrictEqual([life(working), ends(working), working.state.notices], ['running', ['ada.1 replaced'], []]);
  });

  it('reads an end that nobody asked for', () => {
    const after = (parts: Partial<ProcessExit>, mode: 'fresh' | 'resume' = 'resume'): string => {
      const story = new FleetStory().create().request('ada', { mode, expectedSessionId: 'session-1' }).launched();
      story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit: exit(parts) });
      return `${life(story)}, ${ends(story).join()}`;
    };
    deepStrictEqual(
      [
        after({ reading: 'conversation not found' }),
        after({ reading: 'login needed' }),
        after({ reading: 'binary missing', status: 127 }),
        after({ reading: 'configuration error' }),
        after({ how: 'host gone' }),
        after({ status: 0 }),
        after({ how: 'exited', signal: '9', detail: 'killed' }),
        after({ status: 3 }),
      ],
      [
        'blocked: resume failed, ada.1 crashed',
        'blocked: login needed, ada.1 crashed',
        'dead: binary missing, ada.1 crashed',
        'blocked: configuration error, ada.1 crashed',
        'stopped, ada.1 host gone',
        'stopped, ada.1 released',
        'dead: crashed, ada.1 crashed',
        'dead: crashed, ada.1 crashed',
      ],
    );
  });

  it('makes one notice of all agents that ended with the tmux server', () => {
    const story = new FleetStory();
    for (const name of ['ada', 'bo', 'cy']) story.create(name).request(name).launched(name);
    const gone = exit({ how: 'host gone', detail: 'the tmux server ended' });
    for (const name of ['ada', 'bo', 'ada'])
      story.tell({ kind: 'process ended', name, launchId: `${name}.1`, exit: gone });
    deepStrictEqual(
      [story.state.notices.map(({ code, severity }) => [code, severity]), life(story), ends(story)],
      [[['host-gone', 'error']], 'stopped', ['ada.1 host gone']],
    );
    story.wait(1).tell({ kind: 'process ended', name: 'cy', launchId: 'cy.1', exit: gone });
    deepStrictEqual(story.state.notices.length, 2);
  });

  it('changes nothing, not even the object, for reports of another launch or an unknown agent', () => {
    const story = FleetStory.bound();
    const before = story.state;
    story
      .tell({ kind: 'process ended', name: 'ada', launchId: 'ada.0', exit: exit() })
      .tell({ kind: 'launched', name: 'ada', launchId: 'ada.0', process: { tmuxSession: '$9', pane: '%9', pid: 9 } })
      .hook({ event: 'UserPromptSubmit', sessionId: 'other' }, 'ada', 'ada.0')
      .hook({ event: 'Stop' }, 'nobody', 'nobody.1')
      .tell({ kind: 'agent removed', name: 'ada' });
    deepStrictEqual(story.state === before, true);
  });

  it('removes an agent only when its process is gone', () => {
    const story = FleetStory.bound();
    story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'remove' });
    const meanwhile = Object.keys(story.state.agents);
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit: exit() });
    deepStrictEqual([meanwhile, Object.keys(story.state.agents)], [['ada'], []]);
  });

  it('has the pane of an agent that ended by itself cleared before the agent is removed', () => {
    const story = FleetStory.bound();
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit: exit({ status: 0 }) });
    story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'remove' });
    const effects = story.plan().effects.map(({ id }) => id);
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit: exit() });
    deepStrictEqual([effects, Object.keys(story.state.agents)], [['end:ada.1'], []]);
  });
});

describe('session of an agent', () => {
  const sessions = (story: FleetStory): readonly string[] => [
    ...story.agent().lineage.map(({ id, cause }) => `${id} (${cause})`),
    `now ${story.agent().session?.id ?? 'none'} (${story.agent().session?.cause ?? ''})`,
  ];

  it('follows /clear and records the rotation', () => {
    const story = FleetStory.bound().wait(1_000);
    story.hook({ event: 'SessionStart', source: 'clear', sessionId: 'session-2' });
    deepStrictEqual(sessions(story), ['session-1 (startup)', 'now session-2 (clear)']);
  });

  it('takes the new id of a fork from the first later hook (case 13)', () => {
    const story = new FleetStory().create().request().launched();
    story.hook({ event: 'SessionStart', source: 'resume', sessionId: 'parent' }).wait(1_000);
    story.hook({ event: 'UserPromptSubmit', sessionId: 'child' });
    deepStrictEqual(sessions(story), ['parent (resume)', 'now child (rotated)']);
  });

  it('lets the id win whose transcript exists when a resume tells two (case 13), in either order', () => {
    const orders = [
      ['resume', 'startup'],
      ['startup', 'resume'],
    ] as const;
    const outcomes = orders.map((order) => {
      const story = new FleetStory().create();
      story.request('ada', { mode: 'resume', expectedSessionId: 'session-1' }).launched();
      for (const source of order) {
        const right = source === 'resume';
        story.wait(10).hook({
          event: 'SessionStart',
          source,
          sessionId: right ? 'session-1' : 'session-x',
          transcriptExists: right,
        });
      }
      return sessions(story);
    });
    deepStrictEqual(outcomes, [['now session-1 (resume)'], ['now session-1 (resume)']]);
  });

  it('is not changed by the end of another conversation, as a failed resume tells it', () => {
    const story = FleetStory.bound().wait(1).hook({ event: 'UserPromptSubmit' });
    story.request('ada', { id: 'ada.2', mode: 'resume', expectedSessionId: 'session-1' }).launched('ada', 'ada.2');
    story.wait(1).hook({ event: 'SessionEnd', sessionId: 'foreign', transcriptExists: false }, 'ada', 'ada.2');
    deepStrictEqual(sessions(story), ['now session-1 (startup)']);
  });

  it('counts a report once that comes twice, by a slow answer and by the spool, also from the disk', () => {
    const story = FleetStory.bound();
    const report = (reportId: string): void => {
      const hook = { event: 'Stop', sessionId: 'session-1', transcriptExists: true } as const;
      story.tell({ kind: 'hook reported', name: 'ada', launchId: 'ada.1', hook, reportId });
    };
    report('first');
    report('second');
    const before = story.state;
    report('first');
    report('second');
    deepStrictEqual([story.agent().session?.turnsCompleted, story.state === before], [2, true]);
    for (let more = 0; more < 200; more += 1) report(`more-${more}`);
    deepStrictEqual(story.agent().hookReports?.length, 64);
    deepStrictEqual(fleetStateSchema.parse(JSON.parse(JSON.stringify(story.state))), story.state);
  });

  it('keeps the latest by occurrence, whatever the order of arrival', () => {
    const reports = [
      { at: 1_000_010, sessionId: 'a' },
      { at: 1_000_020, sessionId: 'b' },
      { at: 1_000_030, sessionId: 'c' },
      { at: 1_000_040, sessionId: 'd' },
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(reports, { minLength: reports.length }), (order) => {
        const story = new FleetStory().create().request().launched();
        for (const { at, sessionId } of order) {
          story.hook({ event: 'UserPromptSubmit', sessionId }, 'ada', 'ada.1', at);
        }
        return story.agent().session?.id === 'd';
      }),
    );
  });

  it('resumes by the exact id, and starts fresh where no prompt was ever taken', () => {
    const untouched = FleetStory.bound();
    const used = FleetStory.bound().wait(1).hook({ event: 'UserPromptSubmit' });
    const launch = (story: FleetStory): unknown => {
      const { mode, expectedSessionId } = resumeOrFresh(story.agent(), story.now);
      return [mode, expectedSessionId];
    };
    deepStrictEqual(
      [launch(untouched), launch(used)],
      [
        ['fresh', undefined],
        ['resume', 'session-1'],
      ],
    );
  });
});

describe('activity of an agent', () => {
  it('comes from hooks, and from the live-session file when that is newer', () => {
    const story = FleetStory.bound();
    const seen = [story.agent().activity.kind];
    seen.push(story.wait(10).hook({ event: 'UserPromptSubmit' }).agent().activity.kind);
    const observe = (at: number): void => {
      story.tell({ kind: 'activity observed', name: 'ada', launchId: 'ada.1', activity: 'idle' }, at);
    };
    observe(story.now - 5);
    seen.push(story.agent().activity.kind);
    observe(story.now + 5);
    seen.push(story.agent().activity.kind);
    deepStrictEqual(seen, ['idle', 'busy', 'busy', 'idle']);
  });
});
