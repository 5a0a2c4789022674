import { deepStrictEqual } from 'node:assert/strict';
import {
  type Candidate,
  findConversation,
  objectionTo,
  searchFor,
} from '../../../../src/core/fleet/findConversation.ts';
import { nextLaunch } from '../../../../src/core/fleet/launching.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const exit = { how: 'host gone', reading: 'other', detail: 'the tmux server ended' } as const;

/** Ada ran, and no hook told anything of it. */
function lost(): FleetStory {
  const story = new FleetStory().create().request().launched();
  return story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
}

function candidate(sessionId: string, more: Partial<Candidate> = {}): Candidate {
  return {
    ...{ sessionId, directory: '/work/ada', modifiedAt: 1_000_500, firstPrompt: 'hello' },
    ...{ isReadWhole: true, isPoisoned: false, ...more },
  };
}

/** Where no prompt was found. */
function mute(sessionId: string, readWhole: 'whole' | 'in part' = 'whole'): Candidate {
  const { firstPrompt: _said, ...rest } = candidate(sessionId);
  return { ...rest, isReadWhole: readWhole === 'whole' };
}

const nobody = { users: new Map<string, number>() };

function found(story: FleetStory, candidates: readonly Candidate[], processes: object = {}): unknown {
  const finding = findConversation(story.state, story.agent(), candidates, { ...nobody, ...processes });
  if (finding.kind === 'found') return finding.conversation.sessionId;
  return finding.kind === 'ambiguous' ? finding.conversations.map(({ sessionId }) => sessionId) : finding.kind;
}

describe('a conversation that is missing in the record', () => {
  it('is searched for only where one was', () => {
    const untouched = FleetStory.bound();
    const used = FleetStory.bound().hook({ event: 'UserPromptSubmit' });
    const givenUp = FleetStory.bound().hook({ event: 'UserPromptSubmit' }).request('ada', { id: 'ada.2' });
    deepStrictEqual(
      [new FleetStory().create(), lost(), untouched, used, givenUp].map((story) => searchFor(story.agent())),
      [
        { kind: 'nothing' },
        { kind: 'any' },
        { kind: 'one', sessionId: 'session-1' },
        { kind: 'nothing' },
        { kind: 'nothing' },
      ],
    );
  });

  it('is the only one that fits, and else a person chooses', () => {
    const story = lost();
    const elsewhere = candidate('elsewhere', { directory: '/work/other' });
    deepStrictEqual(
      [
        found(story, []),
        found(story, [candidate('a')]),
        found(story, [candidate('a'), elsewhere, mute('silent')]),
        found(story, [candidate('a'), candidate('b')]),
      ],
      ['none', 'a', 'a', ['a', 'b']],
    );
  });

  it('is never one that was given up, quarantined, of another agent, in use, older than the agent, or without a word', () => {
    const story = lost();
    // Bo gave one up, follows another, was in a third before, and is about to resume a fourth.
    story.create('bo').request('bo').launched('bo');
    const hook = (sessionId: string, event: 'SessionStart' | 'UserPromptSubmit' | 'StopFailure', more = {}): void => {
      story.wait(1).hook({ event, sessionId, source: 'clear', ...more }, 'bo');
    };
    hook('former', 'SessionStart');
    hook('bad', 'SessionStart');
    for (const error of ['poisoned: image', 'poisoned: image']) hook('bad', 'StopFailure', { error });
    hook('given-up', 'UserPromptSubmit');
    story.request('bo', { id: 'bo.2', requestedAt: story.now }).launched('bo', 'bo.2');
    story.wait(1).hook({ event: 'SessionStart', source: 'startup', sessionId: 'current' }, 'bo', 'bo.2');
    story.create('cy').request('cy', { mode: 'resume', expectedSessionId: 'wanted' });
    const users = new Map([['busy', 77]]);
    const candidates = [
      ...['former', 'bad', 'given-up', 'current', 'wanted', 'busy'].map((id) => candidate(id)),
      candidate('old', { modifiedAt: 999_999 }),
      candidate('poisoned', { isPoisoned: true }),
      candidate('elsewhere', { directory: '/work/ada/src' }),
      mute('mute'),
      mute('long', 'in part'),
    ];
    deepStrictEqual(
      [
        candidates.map((one) => `${one.sessionId}: ${objectionTo(story.state, story.agent(), one, users) ?? '-'}`),
        found(story, candidates, { users }),
      ],
      [
        [
          'former: of bo',
          'bad: each of its turns fails',
          'given-up: given up (fresh restart)',
          'current: of bo',
          'wanted: of cy',
          'busy: in use by process 77',
          'old: older than ada',
          'poisoned: each of its turns fails',
          'elsewhere: begun in another directory',
          'mute: nothing was said in it',
          'long: -',
        ],
        'long',
      ],
    );
  });

  it('is that of its own process while it runs, and none where that does not tell', () => {
    const story = new FleetStory().create().request().launched();
    const both = [candidate('a'), candidate('b')];
    const users = new Map([['b', 4711]]);
    deepStrictEqual(
      [
        found(story, both, { users, own: { sessionId: 'b' } }),
        found(story, [candidate('a')], { own: {} }),
        found(story, [candidate('a')], { own: { sessionId: 'b' } }),
      ],
      ['b', 'none', 'none'],
    );
  });

  it('is known by its id where only its first prompt was not told', () => {
    const story = FleetStory.bound();
    deepStrictEqual(
      [
        found(story, [candidate('other'), candidate('session-1', { modifiedAt: 1 })]),
        found(story, [candidate('other')]),
        found(story, [mute('session-1')]),
      ],
      ['session-1', 'none', 'none'],
    );
  });

  it("is the agent's own from then on, told in timeline and audit, and never replaces one on record", () => {
    const tell = (story: FleetStory, sessionId: string): FleetStory => {
      return story.tell({
        kind: 'conversation found',
        name: 'ada',
        sessionId,
        transcriptPath: `/t/${sessionId}.jsonl`,
      });
    };
    const story = tell(lost(), 'found-1');
    const { session } = story.agent();
    const next = nextLaunch(story.agent(), 'resume', story.now);
    const twice = tell(lost(), 'found-1').state;
    deepStrictEqual(
      [
        [session?.id, session?.cause, session?.prompted, session?.transcriptPath],
        [next.mode, next.expectedSessionId],
        story.state.timeline.at(-1)?.text,
        story.state.audit.at(-1)?.action,
        tell(story, 'found-2').agent().session?.id,
        twice.agents['ada']?.session?.id,
      ],
      [
        ['found-1', 'found', true, '/t/found-1.jsonl'],
        ['resume', 'found-1'],
        'session found-1 (found among the transcripts)',
        'deed',
        'found-1',
        'found-1',
      ],
    );
    const untouched = tell(FleetStory.bound(), 'session-1').agent();
    deepStrictEqual(
      [untouched.session?.prompted, untouched.session?.cause, tell(FleetStory.bound(), 'x').agent().session?.prompted],
      [true, 'startup', false],
    );
  });
});
