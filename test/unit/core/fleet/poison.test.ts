import { deepStrictEqual } from 'node:assert/strict';
import { lifeOf } from '../../../../src/core/fleet/lifeOf.ts';
import { resumeOrFresh } from '../../../../src/core/fleet/launching.ts';
import { promptWaitsFor } from '../../../../src/core/fleet/planPrompts.ts';
import { afterReading } from '../../../../src/core/fleet/poison.ts';
import type { SessionRecord } from '../../../../src/core/fleet/agent.ts';
import { judgeRestart } from '../../../../src/core/guard/verdict.ts';
import { situationOf } from '../../../../src/core/healing/situation.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const thinking = 'poisoned: thinking blocks';

/** Turns of an agent: `ok`, an error, or `interrupted`, which no hook ends. */
function after(...turns: readonly string[]): FleetStory {
  const story = FleetStory.bound();
  for (const turn of turns) {
    story.wait(1_000).hook({ event: 'UserPromptSubmit' }).wait(1_000);
    if (turn === 'ok') story.hook({ event: 'Stop' });
    else if (turn !== 'interrupted') story.hook({ event: 'StopFailure', error: turn });
  }
  return story;
}

const quarantined = (story: FleetStory): string | undefined => story.agent().session?.quarantine?.error;
const shown = (story: FleetStory): string => lifeOf(story.agent(), [], story.state.hands).life;

describe('poisoned conversation', () => {
  it('is quarantined after two turns in a row that fail by the same kind, and by nothing less', () => {
    const cases: readonly (readonly [readonly string[], string | undefined])[] = [
      [[thinking], undefined],
      [[thinking, thinking], thinking],
      [['ok', thinking, thinking], thinking],
      [[thinking, 'ok', thinking], undefined],
      [[thinking, 'poisoned: image'], undefined],
      [[thinking, 'poisoned: image', 'poisoned: image'], 'poisoned: image'],
      [[thinking, 'interrupted', 'interrupted'], undefined],
      [[thinking, 'interrupted', thinking], thinking],
      [['limit reached', 'limit reached', 'other', 'login needed'], undefined],
      [[thinking, 'server trouble', thinking], thinking],
      [[thinking, thinking, 'ok'], undefined],
    ];
    deepStrictEqual(
      cases.map(([turns]) => [turns, quarantined(after(...turns))]),
      cases,
    );
  });

  it('counts an error once that a hook and the transcript tell, and what only the transcript tells', () => {
    const session = (story: FleetStory): SessionRecord => {
      const { session: current } = story.agent();
      if (current === undefined) throw new Error('no session');
      return current;
    };
    const once = session(after('ok', thinking));
    const at = once.reportedAt - 20;
    const read = (...times: readonly number[]): string => {
      const { apiErrors, quarantine } = afterReading(
        once,
        times.map((time) => ({ kind: thinking, at: time })),
      );
      return `${apiErrors?.inARow ?? 0}${quarantine === undefined ? '' : ' quarantined'}`;
    };
    deepStrictEqual(
      [read(), read(at), read(at, at + 5), read((once.clearedAt ?? 0) - 1, at)],
      ['1', '1', '2 quarantined', '1'],
    );
  });

  it('is shown as blocked, kept in the lineage, and resumed by nobody', () => {
    const story = after(thinking, thinking);
    const before = story.agent();
    const blocked = lifeOf(before, [], story.state.hands);
    const resume = { ...resumeOrFresh(before, story.now), cause: 'healing' } as const;
    story.tell({ kind: 'launch requested', name: 'ada', launch: resume });
    const running = story.agent() === before;
    story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'keep' });
    const exit = { how: 'gone', reading: 'other', detail: 'stopped' } as const;
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
    story.tell({ kind: 'launch requested', name: 'ada', launch: { ...resume, id: 'ada.3' } });
    const { life } = story.agent();
    deepStrictEqual(
      {
        shown: [blocked.life, blocked.detail],
        resume: [resume.mode, resume.expectedSessionId],
        running,
        life: life.kind === 'blocked' ? life.reason : life.kind,
      },
      {
        shown: [
          'blocked',
          'conversation poisoned: Each turn of the conversation of ada fails with the same error (thinking blocks). ' +
            'Begin anew with Force Fresh Restart, go on before the bad turn with Fork Conversation, or use Keep Trying.',
        ],
        resume: ['resume', 'session-1'],
        running: true,
        life: 'conversation poisoned',
      },
    );
  });

  it('goes on where a person keeps trying, and is quarantined anew only by two more errors', () => {
    const story = after(thinking, thinking);
    story.tell({ kind: 'conversation released', name: 'ada', sessionId: 'another', by: 'window' });
    const seen = [shown(story)];
    story.wait(1).tell({ kind: 'conversation released', name: 'ada', sessionId: 'session-1', by: 'window' });
    seen.push(shown(story));
    story.wait(1).hook({ event: 'StopFailure', error: thinking });
    seen.push(shown(story));
    story.wait(1).hook({ event: 'StopFailure', error: thinking });
    seen.push(shown(story));
    deepStrictEqual(seen, ['blocked', 'ready', 'ready', 'blocked']);
  });

  it('gives way to a fork, told as one, and stays marked in the lineage', () => {
    const story = after(thinking, thinking);
    story.request('ada', { id: 'ada.2', mode: 'resume', expectedSessionId: 'copy', forkOf: 'session-1' });
    story.launched('ada', 'ada.2').wait(1_000);
    story.hook({ event: 'SessionStart', source: 'resume', sessionId: 'copy' }, 'ada', 'ada.2');
    const { session, lineage } = story.agent();
    deepStrictEqual(
      [session?.id, session?.cause, session?.quarantine, lineage.map(({ id, quarantine }) => [id, quarantine?.error])],
      ['copy', 'fork', undefined, [['session-1', thinking]]],
    );
  });

  it('is not healed by a resume, and takes no prompt until a person has chosen', () => {
    const story = after(thinking, thinking);
    story.tell({
      kind: 'prompt requested',
      name: 'ada',
      prompt: { id: 'p', requestedAt: story.now, by: 'w', digest: 'd', characters: 1 },
    });
    const waits = (story.agent().prompts ?? []).map((prompt) => promptWaitsFor(story.agent(), prompt, []));
    const cause = 'client gave up';
    story.dropStream().wait(14_000).tell({ kind: 'incident opened', name: 'ada', server: 'bowline-self', cause });
    const incident = story.agent().incidents['bowline-self'];
    if (incident === undefined) throw new Error('no incident');
    const { useless } = situationOf(story.state, story.agent(), 'bowline-self', incident, cause, story.now);
    deepStrictEqual(
      [waits, useless.includes('resume'), story.settle().effects.some(({ kind }) => kind === 'prompt')],
      [['your choice about its poisoned conversation'], true, false],
    );
  });

  it('cannot save, and so does not hold back a fresh start', () => {
    const { agent, now } = ((story) => ({ agent: story.agent(), now: story.now }))(after('ok', thinking, thinking));
    const { allowed, reason, downgraded } = judgeRestart(agent, 'fresh', 'reachable', now);
    const once = judgeRestart(after('ok', thinking).agent(), 'fresh', 'reachable', now);
    deepStrictEqual([allowed, reason, downgraded, once.allowed], [true, 'missing context', 'cannot save', false]);
  });
});
