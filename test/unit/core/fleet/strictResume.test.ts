import { deepStrictEqual } from 'node:assert/strict';
import { resumeOf, resumeOrFresh } from '../../../../src/core/fleet/launching.ts';
import { fleetStateSchema } from '../../../../src/protocol/fleetState.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const exit = { how: 'exited', status: 1, reading: 'other', detail: 'ended with status 1' } as const;

/** An agent that took a prompt in session-1 and whose second launch is to bring that back. */
function resuming(): FleetStory {
  const story = FleetStory.bound().wait(1).hook({ event: 'UserPromptSubmit' }).wait(1).hook({ event: 'Stop' });
  return story
    .request('ada', { id: 'ada.2', mode: 'resume', expectedSessionId: 'session-1', requestedAt: story.now })
    .launched('ada', 'ada.2')
    .wait(500);
}

function start(story: FleetStory, source: string, sessionId: string, transcriptExists = true): FleetStory {
  return story.hook({ event: 'SessionStart', source, sessionId, transcriptExists }, 'ada', 'ada.2');
}

function end(story: FleetStory, launchId = 'ada.2'): FleetStory {
  return story.tell({ kind: 'process ended', name: 'ada', launchId, exit });
}

/** What became of it: the stored life, whether it was confirmed, and its conversation. */
function outcome(story: FleetStory): readonly unknown[] {
  const { life, session } = story.agent();
  const confirmed = life.kind === 'running' && life.running.confirmedAt !== undefined;
  return ['reason' in life ? `${life.kind}: ${life.reason}` : life.kind, confirmed, session?.id];
}

describe('strict resume', () => {
  it('is confirmed by the expected conversation, or one that follows from it, and by nothing else', () => {
    const seen = (source: string, sessionId: string, transcriptExists = true): readonly unknown[] => {
      const story = start(resuming(), source, sessionId, transcriptExists);
      story.settle();
      return outcome(story);
    };
    deepStrictEqual(
      {
        right: seen('resume', 'session-1'),
        fork: seen('fork', 'session-2', false),
        clear: seen('clear', 'session-2', false),
        other: seen('resume', 'session-x'),
        startup: seen('startup', 'session-x', false),
      },
      {
        right: ['running', true, 'session-1'],
        fork: ['running', true, 'session-2'],
        clear: ['running', true, 'session-2'],
        other: ['stopping: killed', false, 'session-1'],
        startup: ['running', false, 'session-1'],
      },
    );
  });

  it('ends a process that began another conversation, and is blocked with its choices', () => {
    const story = start(resuming(), 'resume', 'session-x');
    const effects = story.settle().effects.map(({ id }) => id);
    end(story).settle();
    const { life, lineage, launches } = story.agent();
    deepStrictEqual(
      [effects, outcome(story), life.kind === 'blocked' && life.detail, lineage, launches.map(({ reason }) => reason)],
      [
        ['end:ada.2'],
        ['blocked: resume failed', false, 'session-1'],
        'Claude began conversation session- in place of session-, and was ended for that. Nothing was started in its place. ' +
          'Use Force Fresh Restart to begin anew, or Resume Other Conversation.',
        [],
        ['replaced', 'killed'],
      ],
    );
  });

  it('waits for the right start beside one without a transcript, in either order, and not for ever', () => {
    const either = [start(start(resuming(), 'startup', 'session-x', false).wait(5), 'resume', 'session-1')];
    either.push(start(start(resuming(), 'resume', 'session-1').wait(5), 'startup', 'session-x', false));
    const never = start(resuming(), 'startup', 'session-x', false);
    const { wakeAt = 0 } = never.settle();
    never.wait(wakeAt - never.now).settle();
    const told = start(resuming(), 'startup', 'session-x', false);
    told.wait(5).hook({ event: 'UserPromptSubmit', sessionId: 'session-x' }, 'ada', 'ada.2').settle();
    for (const story of either) story.settle();
    deepStrictEqual(
      [...either, never, told].map((story) => outcome(story)),
      [
        ['running', true, 'session-1'],
        ['running', true, 'session-1'],
        ['stopping: killed', false, 'session-1'],
        ['running', false, 'session-1'],
      ],
    );
  });

  it('follows the person to another conversation once the right one was told', () => {
    const story = start(start(resuming(), 'resume', 'session-1').wait(5), 'resume', 'session-7');
    story.settle();
    const { mode, expectedSessionId } = resumeOrFresh(story.agent(), story.now);
    deepStrictEqual([outcome(story), mode, expectedSessionId], [['running', true, 'session-7'], 'resume', 'session-7']);
  });

  it('takes what it learned while it was still launching along', () => {
    const story = FleetStory.bound().wait(1).hook({ event: 'UserPromptSubmit' }).wait(1).hook({ event: 'Stop' });
    story.request('ada', { id: 'ada.2', mode: 'resume', expectedSessionId: 'session-1', requestedAt: story.now });
    start(story, 'resume', 'session-x').launched('ada', 'ada.2').settle();
    deepStrictEqual(outcome(story), ['stopping: killed', false, 'session-1']);
  });

  it('begins anew after a failed resume only where that is the policy, once, and tells the loss', () => {
    const played = (fleet: 'ask' | 'fresh', own?: 'ask' | 'fresh'): readonly unknown[] => {
      const story = resuming();
      story.tell({ kind: 'settings changed', settings: { ...story.state.settings, failedResume: fleet } });
      if (own !== undefined) {
        const agent = story.agent();
        const configuration = { ...agent.configuration, failedResume: own };
        story.state = { ...story.state, agents: { ada: { ...agent, configuration } } };
      }
      const gone = { ...exit, reading: 'conversation not found' } as const;
      story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.2', exit: gone }).settle();
      deepStrictEqual(fleetStateSchema.parse(JSON.parse(JSON.stringify(story.state))), story.state);
      const { life, session } = story.agent();
      const notices = story.state.notices.map(({ sentence }) => sentence);
      return [life.kind, life.kind === 'launching' && life.launch.mode, session?.givenUp?.why, notices];
    };
    const blocked = ['blocked', false, undefined, []];
    const fresh = [
      'launching',
      'fresh',
      'resume failed',
      [
        'ada began anew, because conversation session- could not be resumed. What was said there is not in the new one. ' +
          'Resume Other Conversation shows what is still there.',
      ],
    ];
    deepStrictEqual(
      [played('ask'), played('fresh'), played('fresh', 'ask'), played('ask', 'fresh')],
      [blocked, fresh, blocked, fresh],
    );
  });

  it('begins anew as often as healing may restart: one after another, three within an hour', () => {
    const gone = { ...exit, reading: 'conversation not found' } as const;
    const story = resuming();
    const { settings } = story.state;
    story.tell({ kind: 'settings changed', settings: { ...settings, failedResume: 'fresh' } });
    const starts: number[] = [];
    const begin = story.now;
    let launchId = 'ada.2';
    for (let round = 0; round < 5; round += 1) {
      story.tell({ kind: 'process ended', name: 'ada', launchId, exit: gone });
      let { wakeAt } = story.settle();
      while (story.agent().life.kind === 'blocked' && wakeAt !== undefined) {
        story.now = wakeAt;
        ({ wakeAt } = story.settle());
      }
      starts.push(Math.round((story.now - begin) / 1000));
      const { life } = story.agent();
      launchId = life.kind === 'launching' ? life.launch.id : '';
      story.launched('ada', launchId);
      // The new one works, is stopped, and its conversation cannot be resumed either.
      story.hook({ event: 'SessionStart', sessionId: launchId }, 'ada', launchId).wait(1);
      story.hook({ event: 'UserPromptSubmit', sessionId: launchId }, 'ada', launchId).wait(1);
      story.tell({ kind: 'process ended', name: 'ada', launchId, exit: { ...exit, status: 0 } });
      const { id, ...rest } = resumeOrFresh(story.agent(), story.now);
      story.request('ada', { ...rest, id: `${id}.again` }).launched('ada', `${id}.again`);
      launchId = `${id}.again`;
    }
    deepStrictEqual(starts, [0, 20, 40, 3_600, 3_620]);
  });
});

describe('force fresh once', () => {
  const next = (story: FleetStory): readonly unknown[] => {
    const { mode, expectedSessionId } = resumeOrFresh(story.agent(), story.now);
    return [mode, expectedSessionId];
  };
  const forced = (): FleetStory => {
    const story = FleetStory.bound().wait(1).hook({ event: 'UserPromptSubmit' }).wait(1).hook({ event: 'Stop' });
    return story.request('ada', { id: 'ada.2', requestedAt: story.now });
  };

  it('stays in force until a new conversation took a prompt, through failures, and never goes back by itself', () => {
    const failed = end(forced().wait(1), 'ada.1').tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
    failed.tell({ kind: 'launch failed', name: 'ada', launchId: 'ada.2', code: 'claude-missing', sentence: 'no' });
    const died = end(forced().launched('ada', 'ada.2'));
    const started = start(forced().launched('ada', 'ada.2').wait(5), 'startup', 'session-2', false);
    const late = end(start(forced().launched('ada', 'ada.2').wait(5), 'startup', 'session-2', false).wait(179_000));
    const used = start(forced().launched('ada', 'ada.2').wait(5), 'startup', 'session-2', false);
    used.wait(1).hook({ event: 'UserPromptSubmit', sessionId: 'session-2' }, 'ada', 'ada.2');
    const fresh = ['fresh', undefined];
    deepStrictEqual(
      [failed, died, started, late, used].map((story) => next(story)),
      [fresh, fresh, fresh, fresh, ['resume', 'session-2']],
    );
    deepStrictEqual(
      used.agent().lineage.map(({ id, givenUp }) => [id, givenUp?.why]),
      [['session-1', 'fresh restart']],
    );
  });

  it('is off where the person called it off, the old process goes on, or the conversation was chosen again', () => {
    const calledOff = forced().tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'keep' });
    const goesOn = forced();
    goesOn.tell({ kind: 'launch failed', name: 'ada', launchId: 'ada.2', code: 'tmux-failed', sentence: 'no' });
    const chosen = end(forced().launched('ada', 'ada.2'));
    chosen.tell({
      kind: 'launch requested',
      name: 'ada',
      launch: { ...resumeOf(chosen.agent(), 'session-1', chosen.now), cause: 'person' },
    });
    const back = ['resume', 'session-1'];
    deepStrictEqual(
      [calledOff, goesOn, chosen].map((story) => next(story)),
      [back, back, back],
    );
  });

  it('hands the saved context on: the new conversation has saved nothing itself', () => {
    const story = forced();
    const saved = { at: story.now, sessionId: 'session-1', launchId: 'ada.1', origin: 'explicit', bytes: 3 } as const;
    story.tell({ kind: 'context saved', name: 'ada', context: saved }).launched('ada', 'ada.2').wait(5);
    start(story, 'startup', 'session-2').connect('ada', '2.1.332', 'ada.2').probe();
    story.settle();
    const own = { ...saved, launchId: 'ada.2', sessionId: 'session-2' };
    const handed = story.agent().savedContext?.origin;
    story.tell({ kind: 'context saved', name: 'ada', context: own }).wait(5).settle();
    deepStrictEqual([handed, story.agent().savedContext?.origin], ['carried', 'explicit']);
  });
});

describe('verification of a launch', () => {
  const details = (story: FleetStory): readonly string[] => story.state.timeline.map(({ text }) => text);

  it('says why a launch that nobody starts waits', () => {
    const alone = new FleetStory().tell({ kind: 'hands changed' }).create().request();
    const withHands = new FleetStory().tell({ kind: 'hands changed', holder: 'window' }).create().request();
    const seen = [alone, withHands].map((story) => {
      const { wakeAt = 0 } = story.settle();
      const waited = wakeAt - story.now;
      story.wait(waited).settle();
      const { life } = story.agent();
      return [waited, life.kind === 'launching' && life.waits];
    });
    deepStrictEqual(seen, [
      [20_000, 'no window is open that could start it. Open one, or switch on "bowline.healWithoutWindow".'],
      [60_000, 'it was not started within 60 s. Look at Show Log, or stop it.'],
    ]);
  });

  it('tells hooks that are silent from a process that is', () => {
    const silent = new FleetStory().create().request().launched().wait(60_000);
    silent.settle();
    const bound = new FleetStory().create().request().launched().wait(1_000).connect();
    bound.probe();
    for (let round = 0; round < 3; round += 1) bound.wait(20_000).probe();
    bound.settle();
    deepStrictEqual(
      [silent, bound].map((story) => details(story).find((text) => text.includes('within 60 s'))),
      [
        'it told nothing within 60 s of its start: attach and look what it waits for',
        'hooks silent: its tools are bound, but no hook told its conversation within 60 s: ' +
          'restart it, and look at Show Log if that does not help',
      ],
    );
  });
});
