import { deepStrictEqual } from 'node:assert/strict';
import { judgeRestart } from '../../../../src/core/guard/verdict.ts';
import type { SavedContext } from '../../../../src/core/fleet/state.ts';
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

  it('lets every save reason through when the tools are unreachable, and says so', () => {
    deepStrictEqual(verdict(afterTurn(), 'fresh', 'unreachable'), 'allowed: missing context (tools unreachable)');
  });

  it('blocks nothing before the first completed turn', () => {
    deepStrictEqual(verdict(FleetStory.bound(), 'fresh'), 'allowed: no completed turn');
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
