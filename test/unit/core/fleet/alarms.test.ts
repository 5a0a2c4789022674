import { deepStrictEqual } from 'node:assert/strict';
import { alarmsOf } from '../../../../src/core/fleet/alarms.ts';
import { select } from '../../../../src/core/fleet/select.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const path = '/home/.claude/projects/p/session-1.jsonl';
const unwritten = { transcriptPath: path, transcriptExists: false };
const codes = (story: FleetStory): readonly string[] => alarmsOf(story.agent()).map(({ code }) => code);
const noticed = (story: FleetStory): readonly string[] => story.state.notices.map(({ code }) => code);
const looks = (story: FleetStory): readonly string[] =>
  story.plan().effects.flatMap((effect) => (effect.kind === 'transcript' ? effect.path : []));
const seen = (story: FleetStory, file: 'there' | 'missing'): FleetStory =>
  story.tell({ kind: 'transcript seen', name: 'ada', sessionId: 'session-1', file });

describe('a conversation that is not saved', () => {
  it('is looked for 30 s after its first prompt, told once, and looked for again', () => {
    const story = FleetStory.bound().hook({ ...unwritten, event: 'SessionStart', source: 'startup' });
    const before = looks(story.wait(60_000));
    story.hook({ ...unwritten, event: 'UserPromptSubmit' });
    const early = looks(story.wait(29_999));
    const due = looks(story.wait(1));
    seen(story, 'missing');
    const after = [codes(story), noticed(story), looks(story)];
    seen(story.wait(60_000), 'missing');
    const again = [codes(story), noticed(story)];
    const later = looks(story.wait(60_000));
    seen(story, 'there');
    deepStrictEqual(
      { before, early, due, after, again, later, over: [codes(story), looks(story.wait(600_000))] },
      {
        before: [],
        early: [],
        due: [path],
        after: [['not-saved'], ['not-saved'], []],
        again: [['not-saved'], ['not-saved']],
        later: [path],
        over: [[], []],
      },
    );
  });

  it('is planned to be looked for by a wake of the plan', () => {
    const story = FleetStory.bound().hook({ ...unwritten, event: 'UserPromptSubmit' });
    deepStrictEqual((story.plan().wakeAt ?? 0) <= story.now + 30_000, true);
  });

  it('is none once a hook saw the transcript, or where no process runs', () => {
    const written = FleetStory.bound().hook({ ...unwritten, event: 'UserPromptSubmit' });
    written.wait(1_000).hook({ event: 'Stop', transcriptPath: path }).wait(60_000);
    const ended = FleetStory.bound().hook({ ...unwritten, event: 'UserPromptSubmit' });
    seen(ended.wait(30_000), 'missing');
    const exit = { how: 'exited', status: 1, reading: 'other', detail: 'ended' } as const;
    ended.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
    const another = FleetStory.bound()
      .hook({ ...unwritten, event: 'UserPromptSubmit' })
      .wait(60_000);
    another.tell({ kind: 'transcript seen', name: 'ada', sessionId: 'another', file: 'missing' });
    deepStrictEqual([looks(written), codes(ended), looks(ended), codes(another)], [[], [], [], []]);
  });
});

describe('what else is warned of while an agent runs', () => {
  it('is another process on its conversation, told once and until it is over', () => {
    const story = FleetStory.bound();
    const shared = (pid?: number, launchId = 'ada.1'): void => {
      story.tell({ kind: 'conversation shared', name: 'ada', launchId, ...(pid !== undefined && { pid }) });
    };
    shared(7, 'ada.0');
    const of = [codes(story)];
    shared(7);
    shared(7);
    of.push(codes(story), noticed(story));
    shared();
    of.push(codes(story));
    deepStrictEqual(of, [[], ['conversation-shared'], ['conversation-shared'], []]);
  });

  it('is another process under its launch, told once and until it is gone', () => {
    const story = FleetStory.bound();
    const doubled = (process?: { pid: number; startTime: string }, launchId = 'ada.1'): void => {
      story.tell({ kind: 'launch doubled', name: 'ada', launchId, ...(process !== undefined && { process }) });
    };
    doubled({ pid: 7, startTime: 'a' }, 'ada.0');
    const of = [codes(story)];
    doubled({ pid: 7, startTime: 'a' });
    const { life } = story.agent();
    doubled({ pid: 7, startTime: 'a' });
    of.push(codes(story), noticed(story));
    const again = story.agent().life === life;
    doubled();
    of.push(codes(story));
    deepStrictEqual({ of, again }, { of: [[], ['launch-doubled'], ['launch-doubled'], []], again: true });
  });

  it('is a program that was replaced, and nothing is restarted for it', () => {
    const story = FleetStory.bound();
    story.tell({ kind: 'program changed', name: 'ada', launchId: 'ada.1', what: 'replaced' });
    const { effects } = story.settle();
    const row = select(story.state, { kind: 'connected' }, story.now).agents[0];
    deepStrictEqual(
      [row?.life, row?.warnings, noticed(story), effects.filter(({ kind }) => kind !== 'probe')],
      [
        'ready',
        [
          'The program of ada was replaced while it runs. It goes on with the one it was started with; Restart takes the new one.',
        ],
        ['program-changed'],
        [],
      ],
    );
  });
});

describe('a tool whose full name is too long', () => {
  const turn = (story: FleetStory, error?: string): FleetStory => {
    story.wait(1).hook({ event: 'UserPromptSubmit' }).wait(1);
    return story.hook(error === undefined ? { event: 'Stop' } : { event: 'StopFailure', error });
  };

  it('is warned of once, with the way on, until a turn succeeds; its conversation is not to blame', () => {
    const story = FleetStory.bound();
    const other = codes(turn(story, 'server trouble'));
    turn(turn(turn(story, 'tool name too long'), 'tool name too long'), 'tool name too long');
    const [alarm] = alarmsOf(story.agent());
    const failing = { noticed: noticed(story), quarantine: story.agent().session?.quarantine };
    deepStrictEqual(
      { other, sentence: alarm?.sentence, failing, over: codes(turn(story)) },
      {
        other: [],
        sentence:
          'Each turn of ada fails, because the full name of one of its tools (mcp__SERVER__TOOL) has more than 64 ' +
          'characters. Give that MCP server a shorter name where it is configured, or remove it there, then restart ada.',
        failing: { noticed: ['tool-name-too-long'], quarantine: undefined },
        over: [],
      },
    );
  });
});
