import { deepStrictEqual } from 'node:assert/strict';
import { saveTool } from '../../../../src/core/guard/saveTool.ts';
import { type GuardReason, judgeRestart } from '../../../../src/core/guard/verdict.ts';
import type { SavedContext } from '../../../../src/core/fleet/agent.ts';
import type { ScreenShows } from '../../../../src/core/fleet/life.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

/** An agent whose first turn ended at the time of the clock. */
function afterTurn(): FleetStory {
  const story = FleetStory.bound().wait(1_000).hook({ event: 'UserPromptSubmit' });
  return story.wait(1_000).hook({ event: 'Stop' });
}

function save(story: FleetStory, context: Partial<SavedContext> = {}): FleetStory {
  const saved = {
    at: story.now,
    sessionId: 'session-1',
    launchId: 'ada.1',
    origin: 'explicit',
    bytes: 10,
    ...context,
  } as const;
  return story.tell({ kind: 'context saved', name: 'ada', context: saved });
}

/** The hands look at the screen. */
function seen(story: FleetStory, shows: ScreenShows): FleetStory {
  const of = { name: 'ada', launchId: 'ada.1' };
  const askedAt = story.now;
  return story.tell({ kind: 'look requested', ...of }).tell({ kind: 'screen looked at', ...of, askedAt, shows });
}

function verdict(
  story: FleetStory,
  mode: 'fresh' | 'resume',
  tools: 'reachable' | 'unreachable' = 'reachable',
): string {
  const { allowed, reason, downgraded } = judgeRestart(story.agent(), mode, tools, story.now);
  return `${allowed ? 'allowed' : 'blocked'}: ${reason}${downgraded === 'no' ? '' : ` (${downgraded})`}`;
}

describe('restart guard', () => {
  it('blocks any restart in a turn and before a permission', () => {
    const busy = FleetStory.bound().wait(1_000).hook({ event: 'UserPromptSubmit' });
    const waiting = FleetStory.bound().wait(1_000).hook({ event: 'Notification', waitingFor: 'permission' });
    deepStrictEqual(
      [verdict(busy, 'resume'), verdict(busy, 'fresh', 'unreachable'), verdict(waiting, 'resume')],
      ['blocked: turn in progress', 'blocked: turn in progress', 'blocked: waiting for permission'],
    );
  });

  it('asks the save reasons in their order for a fresh restart only', () => {
    const none = afterTurn();
    const carried = save(afterTurn(), { origin: 'carried' });
    const other = save(afterTurn(), { sessionId: 'session-0' });
    const old = save(afterTurn());
    old.wait(300_000).hook({ event: 'Stop' });
    const young = save(afterTurn());
    young.wait(299_999).hook({ event: 'Stop' });
    deepStrictEqual(
      [verdict(none, 'resume'), ...[none, carried, other, old, young].map((story) => verdict(story, 'fresh'))],
      [
        'allowed: ok',
        'blocked: missing context',
        'blocked: missing explicit save',
        'blocked: different session',
        'blocked: save too old',
        'allowed: ok',
      ],
    );
  });

  it('lets every save reason through when the tools are unreachable, and says so; nothing else', () => {
    const old = save(afterTurn()).wait(300_000).hook({ event: 'Stop' });
    const stories: Readonly<Record<GuardReason, FleetStory>> = {
      ok: save(afterTurn()),
      'not running': new FleetStory().create(),
      'no completed turn': FleetStory.bound(),
      'turn in progress': FleetStory.bound().wait(1_000).hook({ event: 'UserPromptSubmit' }),
      'waiting for permission': FleetStory.bound()
        .wait(1_000)
        .hook({ event: 'Notification', waitingFor: 'permission' }),
      'unsent input': seen(save(afterTurn()), 'unsent input'),
      'missing context': afterTurn(),
      'missing explicit save': save(afterTurn(), { origin: 'carried' }),
      'different session': save(afterTurn(), { sessionId: 'session-0' }),
      'save too old': old,
    };
    const through = (reason: GuardReason): string => `allowed: ${reason} (tools unreachable)`;
    deepStrictEqual(
      Object.values(stories).map((story) => [verdict(story, 'fresh'), verdict(story, 'fresh', 'unreachable')]),
      [
        ['allowed: ok', 'allowed: ok'],
        ['allowed: not running', 'allowed: not running'],
        ['allowed: no completed turn', 'allowed: no completed turn'],
        ['blocked: turn in progress', 'blocked: turn in progress'],
        ['blocked: waiting for permission', 'blocked: waiting for permission'],
        ['blocked: unsent input', 'blocked: unsent input'],
        ['blocked: missing context', through('missing context')],
        ['blocked: missing explicit save', through('missing explicit save')],
        ['blocked: different session', through('different session')],
        ['blocked: save too old', through('save too old')],
      ],
    );
  });

  it('takes the save tool for unreachable when the endpoint is unbound or off or the gateway is away, not while it is checked', () => {
    const states = [
      'bound',
      'not checkable',
      'suspect',
      'pending',
      'unbound',
      'off',
      'gateway down',
      undefined,
    ] as const;
    deepStrictEqual(
      states.filter((state) => saveTool(state) === 'unreachable'),
      ['unbound', 'off', 'gateway down', undefined],
    );
  });

  it('blocks nothing before the first completed turn', () => {
    const interrupted = (source: string): FleetStory => {
      const story = FleetStory.bound().wait(1_000).hook({ event: 'SessionStart', source, sessionId: 'session-2' });
      story.wait(1_000).hook({ event: 'UserPromptSubmit', sessionId: 'session-2' }).wait(1_000);
      return story.tell({ kind: 'activity observed', name: 'ada', launchId: 'ada.1', activity: 'idle' });
    };
    deepStrictEqual(
      [FleetStory.bound(), interrupted('startup'), interrupted('clear'), interrupted('resume')].map((story) =>
        verdict(story, 'fresh'),
      ),
      [
        'allowed: no completed turn',
        'allowed: no completed turn',
        'allowed: no completed turn',
        // What it held before Bowline saw it is not known.
        'blocked: missing context',
      ],
    );
  });

  it('takes what the hands saw a moment ago for a reason to block, never for one to allow', () => {
    const unsent = (): FleetStory => seen(save(afterTurn()), 'unsent input');
    const busy = FleetStory.bound().wait(1_000).hook({ event: 'UserPromptSubmit' });
    const screens = [afterTurn(), unsent().wait(5_000), unsent().wait(5_001), seen(save(afterTurn()), 'empty input')];
    deepStrictEqual(
      [
        ...screens.map((story) => verdict(story, 'resume')),
        ...(['permission', 'dialog', 'unknown'] as const).map((shows) => verdict(seen(afterTurn(), shows), 'resume')),
        verdict(seen(busy, 'empty input'), 'resume'),
        screens.map((story) => judgeRestart(story.agent(), 'resume', 'reachable', story.now).screen),
      ],
      [
        'allowed: ok',
        'blocked: unsent input',
        'allowed: ok',
        'allowed: ok',
        'blocked: waiting for permission',
        'allowed: ok',
        'allowed: ok',
        'blocked: turn in progress',
        ['not looked at', 'looked at', 'not looked at', 'looked at'],
      ],
    );
  });

  it('gives the numbers: age of the save, how far work trails it, staleness', () => {
    const story = save(afterTurn());
    story.wait(60_000).hook({ event: 'Stop' });
    story.wait(13 * 3600_000);
    const { saveAgeSeconds, saveTrailsBySeconds, context } = judgeRestart(
      story.agent(),
      'fresh',
      'reachable',
      story.now,
    );
    deepStrictEqual(
      { saveAgeSeconds, saveTrailsBySeconds, context },
      { saveAgeSeconds: 13 * 3600 + 60, saveTrailsBySeconds: 60, context: 'stale' },
    );
  });
});
