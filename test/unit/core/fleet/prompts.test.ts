import { deepStrictEqual, match } from 'node:assert/strict';
import { promptForbiddenBy, promptTimes } from '../../../../src/core/fleet/planPrompts.ts';
import { promptViews } from '../../../../src/core/fleet/promptView.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const name = 'ada';
const launchId = 'ada.1';
const promptId = 'p1';
const digest = 'digest-1';

function ready(): FleetStory {
  return FleetStory.bound().wait(1_000);
}

function queue(story: FleetStory, id = promptId, text = digest): FleetStory {
  const prompt = { id, requestedAt: story.now, by: 'window 1', digest: text, characters: 5 };
  return story.tell({ kind: 'prompt requested', name, prompt });
}

function typed(story: FleetStory, id = promptId): FleetStory {
  story.tell({ kind: 'prompt taken', name, promptId: id, launchId }).wait(10);
  return story.tell({ kind: 'prompt typed', name, promptId: id, launchId }).wait(10);
}

function submit(story: FleetStory, promptDigest = digest, at = story.now): FleetStory {
  return story.hook({ event: 'UserPromptSubmit', promptDigest }, name, launchId, at);
}

/** The prompt as its sender sees it, and whether the hands have it. */
function look(story: FleetStory, id = promptId): readonly string[] {
  const { effects } = story.settle();
  const view = promptViews(story.state, name, story.now).find((one) => one.id === id);
  const isPlanned = effects.some((effect) => effect.kind === 'prompt' && effect.promptId === id);
  return [view?.state ?? '', view?.waitsFor ?? '', isPlanned ? 'planned' : ''];
}

describe('prompts', () => {
  it('are not typed when the hands find something in the way that came after they were asked', () => {
    const forbidden = (story: FleetStory): string | undefined =>
      promptForbiddenBy(story.agent(), story.state.epoch, story.now);
    const verified = ready();
    verified.settle();
    const busy = ready().hook({ event: 'UserPromptSubmit' });
    const suspect = ready();
    suspect.settle();
    suspect.tell({ kind: 'doubted', name, server: 'bowline-self', cause: 'asked' });
    const starting = new FleetStory().create().request().launched();
    deepStrictEqual([verified, starting, busy, suspect].map(forbidden), [
      undefined,
      'its start',
      'the end of its turn',
      'its tools, which are being checked',
    ]);
  });

  it('go from queued over typed to received, by the hook of the launch that names their text', () => {
    const story = queue(ready());
    const seen = [look(story)];
    story.tell({ kind: 'prompt taken', name, promptId, launchId });
    seen.push(look(story));
    story.wait(5).tell({ kind: 'prompt typed', name, promptId, launchId });
    seen.push(look(story));
    submit(story.wait(5), 'of another text');
    seen.push(look(story));
    submit(story.wait(5));
    seen.push(look(story));
    deepStrictEqual(seen, [
      ['queued', '', 'planned'],
      ['typing', '', 'planned'],
      ['typed', '', 'planned'],
      ['typed', '', 'planned'],
      ['received', '', ''],
    ]);
  });

  const waits: readonly (readonly [string, (story: FleetStory) => void, RegExp])[] = [
    ['a turn', (story) => story.hook({ event: 'UserPromptSubmit' }), /the end of its turn/],
    ['a permission', (story) => story.hook({ event: 'Notification', waitingFor: 'permission' }), /a permission/],
    ['a question', (story) => story.hook({ event: 'Notification', waitingFor: 'input' }), /an input/],
    ['a dialog', (story) => story.tell({ kind: 'screen read', name, launchId, dialog: 'trust' }), /a dialog \(trust\)/],
    ['a restart', (story) => story.request(name, { id: 'ada.2' }), /its start/],
    ['lost tools', (story) => story.dropStream().wait(14_000), /its tools|its healing/],
    [
      'what the hands see',
      (story) => story.tell({ kind: 'prompt waits', name, promptId, reason: 'a person' }),
      /a person/,
    ],
  ];
  for (const [what, happen, reason] of waits) {
    it(`wait, and say for what: ${what}`, () => {
      const story = queue(ready());
      happen(story.wait(10));
      const [state, waitsFor = '', planned] = look(story);
      deepStrictEqual([state, planned], ['queued', what === 'what the hands see' ? 'planned' : '']);
      match(waitsFor, reason);
    });
  }

  it('come one after another', () => {
    const story = queue(queue(ready()), 'p2', 'digest-2');
    const before = look(story, 'p2');
    submit(typed(story)).wait(10).hook({ event: 'Stop' });
    deepStrictEqual(
      [before, look(story, 'p2')],
      [
        ['queued', 'an earlier prompt', ''],
        ['queued', '', 'planned'],
      ],
    );
  });

  it('are unknown when no receipt comes, never planned again, and received when it comes late', () => {
    const story = typed(queue(ready()));
    const typedAt = story.now;
    story.wait(promptTimes.receiptWithin - 11);
    const seen = [look(story)];
    story.wait(11);
    seen.push(look(story));
    story.wait(3_600_000).probe();
    seen.push(look(story));
    submit(story, digest, typedAt);
    seen.push(look(story));
    deepStrictEqual(seen, [
      ['typed', '', 'planned'],
      ['unknown', '', ''],
      ['unknown', '', ''],
      ['received', '', ''],
    ]);
  });

  it('are unknown when the process ends before the receipt, and received by a late hook of the ended launch', () => {
    const exit = { how: 'exited', status: 1, reading: 'other', detail: '' } as const;
    const story = typed(queue(ready())).tell({ kind: 'process ended', name, launchId, exit });
    const before = look(story);
    submit(story);
    deepStrictEqual(
      [before, look(story)],
      [
        ['unknown', '', ''],
        ['received', '', ''],
      ],
    );
  });

  it('are looked for once in the transcript when no hook tells the receipt, and received when they stand there', () => {
    const path = '/transcripts/session-1.jsonl';
    const wait = (milliseconds: number): FleetStory => {
      const story = typed(queue(ready().hook({ event: 'SessionStart', source: 'startup', transcriptPath: path })));
      return story.wait(milliseconds - 10);
    };
    const looks = (story: FleetStory): readonly unknown[] =>
      story.settle().effects.filter((effect) => effect.kind === 'transcript');
    const { lookAfter, receiptWithin } = promptTimes;
    const looked = wait(lookAfter);
    const seen = [wait(lookAfter - 1), looked, wait(receiptWithin - 1), wait(receiptWithin)].map(looks);
    const sessionId = 'session-1';
    const found = { kind: 'transcript seen', name, sessionId, file: 'there', promptId } as const;
    const states = [looked, wait(receiptWithin)].map((story) => {
      story.settle();
      return look(story.tell(found))[0];
    });
    const effect = { kind: 'transcript', id: 'receipt:p1', name, sessionId, path, promptId };
    const another = look(wait(lookAfter).tell({ ...found, sessionId: 'session-2' }))[0];
    const untyped = look(queue(ready()).tell(found))[0];
    deepStrictEqual(
      [seen, states, another, untyped, looked.agent().session?.prompted, looks(looked)],
      [[[], [effect], [effect], []], ['received', 'received'], 'typed', 'queued', true, []],
    );
  });

  it('are not sent to an agent that was stopped, and wait through a restart', () => {
    const stopped = queue(ready()).tell({ kind: 'stop requested', name, reason: 'released', then: 'keep' });
    const restarted = queue(ready()).request(name, { id: 'ada.2' }).launched(name, 'ada.2').wait(1_000);
    restarted
      .hook({ event: 'SessionStart', source: 'startup' }, name, 'ada.2')
      .connect(name, '2.1.332', 'ada.2')
      .probe();
    deepStrictEqual(
      [look(stopped), look(restarted)],
      [
        ['failed', '', ''],
        ['queued', '', 'planned'],
      ],
    );
  });

  it('cannot be called off once they are taken, and what was typed counts before what was asked', () => {
    const cancel = { kind: 'prompt ended', name, promptId, outcome: 'failed', detail: 'called off' } as const;
    const early = queue(ready()).tell(cancel).tell({ kind: 'prompt taken', name, promptId, launchId });
    const late = queue(ready()).tell({ kind: 'prompt taken', name, promptId, launchId }).tell(cancel);
    const both = typed(queue(ready()).tell(cancel));
    deepStrictEqual(
      [early, late, both].map((story) => look(story)[0]),
      ['failed', 'typing', 'typed'],
    );
  });

  it('are told from an equal one: the receipt counts for the one that was typed before it', () => {
    const story = typed(queue(ready()));
    story.wait(promptTimes.receiptWithin);
    const first = look(story);
    const betweenThem = story.now;
    typed(queue(story.wait(1_000), 'p2'), 'p2');
    submit(story, digest, betweenThem);
    const seen = [first[0], look(story)[0], look(story, 'p2')[0]];
    submit(story);
    deepStrictEqual([...seen, look(story, 'p2')[0]], ['unknown', 'received', 'typed', 'received']);
  });

  it('are asked for once under one id, and settled ones are kept in bounds', () => {
    const story = queue(queue(ready()), promptId, 'another text');
    const once = story.agent().prompts?.map((prompt) => prompt.digest);
    for (let index = 0; index < 30; index += 1) {
      queue(story, `more-${index}`).tell({
        kind: 'prompt ended',
        name,
        promptId: `more-${index}`,
        outcome: 'failed',
        detail: '',
      });
    }
    deepStrictEqual([once, story.agent().prompts?.length, look(story)[0]], [[digest], 22, 'queued']);
  });
});
