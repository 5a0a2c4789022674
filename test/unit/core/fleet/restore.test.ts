import { deepStrictEqual } from 'node:assert/strict';
import { currentLaunch } from '../../../../src/core/fleet/agent.ts';
import type { FleetEvent } from '../../../../src/core/fleet/events.ts';
import { lostAgents, restoreProgress, restoreVerdict } from '../../../../src/core/fleet/restore.ts';
import { fleetStateSchema } from '../../../../src/protocol/fleetState.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const hostGone = { how: 'host gone', reading: 'other', detail: 'the tmux server ended' } as const;
const gone = { how: 'gone', reading: 'other', detail: 'its tmux pane was closed' } as const;
const five = ['a', 'b', 'c', 'd', 'e'] as const;

/** Agents that have worked, each in a conversation of its own, and whose tmux server ended. */
function lost(names: readonly string[] = five): FleetStory {
  const story = new FleetStory();
  for (const name of names) {
    story.create(name).request(name).launched(name).wait(10);
    for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop'] as const) {
      story.wait(10).hook({ event, sessionId: `session-${name}` }, name);
    }
    story.connect(name).probe('answered', name);
  }
  return killHost(story);
}

/** The tmux server ends, and with it all that runs. */
function killHost(story: FleetStory): FleetStory {
  story.settle();
  for (const { name, life } of Object.values(story.state.agents)) {
    if (life.kind !== 'running') continue;
    story.tell({ kind: 'process ended', name, launchId: life.running.launch.id, exit: hostGone });
  }
  return story;
}

function restore(story: FleetStory, agents: readonly string[] = five, id = 'restore-1'): FleetStory {
  story.tell({ kind: 'restore requested', id, by: 'window-1', agents });
  story.settle();
  return story;
}

function callOff(story: FleetStory, id = 'restore-1'): void {
  story.tell({ kind: 'restore ended', id, outcome: 'called off', asker: 'window-2' });
  story.settle();
}

function launchOf(story: FleetStory, name: string): string {
  return currentLaunch(story.agent(name))?.id ?? '';
}

/** Its process starts, tells the conversation that it has, and its tools are proven. */
function comeUp(story: FleetStory, name: string): void {
  const launchId = launchOf(story, name);
  story.launched(name, launchId).wait(10);
  story.hook({ event: 'SessionStart', source: 'resume', sessionId: `session-${name}` }, name, launchId);
  story.connect(name, '2.1.332', launchId).probe('answered', name);
  story.settle();
}

function stopped(story: FleetStory, name: string): void {
  story.tell({ kind: 'process ended', name, launchId: launchOf(story, name), exit: gone });
  story.settle();
}

function kinds(story: FleetStory): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.values(story.state.agents).map(({ name, life }) => [name, life.kind]));
}

function names(story: FleetStory): readonly string[] {
  return lostAgents(story.state).map(({ name }) => name);
}

function progress(story: FleetStory): unknown {
  const { restoration } = story.state;
  if (restoration === undefined) throw new Error('there is no restoration');
  const { waiting, underWay } = restoreProgress(story.state, restoration);
  return [underWay.join(''), waiting.join(''), restoration.ended?.outcome ?? 'open'];
}

describe('restore', () => {
  it('is for those alone that ended with the tmux server', () => {
    const story = lost(['a', 'b', 'c']);
    story.create('d').request('d').launched('d');
    story.tell({ kind: 'process ended', name: 'd', launchId: 'd.1', exit: gone });
    story.create('e');
    const request = { id: 'b.2', mode: 'resume', expectedSessionId: 'session-b' } as const;
    story.request('b', request).launched('b', 'b.2');
    story.tell({ kind: 'stop requested', name: 'b', reason: 'released', then: 'keep' });
    stopped(story, 'b');
    deepStrictEqual(names(story), ['a', 'c']);
  });

  it('resumes by the exact id, begins anew where nothing was said, and says what keeps it from either', () => {
    const story = lost(['a']);
    const agent = story.agent('a');
    const { session } = agent;
    if (session === undefined) throw new Error('no session');
    const { session: _none, ...forgotten } = agent;
    const words = (verdict: ReturnType<typeof restoreVerdict>): string => {
      return verdict.kind === 'blocked' ? verdict.why.replace(/[.,:(] ?.*/, '') : verdict.kind;
    };
    const unsaved = { since: 1, path: '/t', missingAt: 2 };
    deepStrictEqual(
      [
        restoreVerdict(agent),
        restoreVerdict({ ...agent, session: { ...session, prompted: false } }),
        restoreVerdict({ ...agent, session: { ...session, givenUp: { at: 1, why: 'fresh restart' } } }),
        words(restoreVerdict(forgotten)),
        words(restoreVerdict({ ...agent, session: { ...session, quarantine: { at: 1, error: 'poisoned: x' } } })),
        words(restoreVerdict({ ...agent, session: { ...session, unsaved } })),
      ],
      [
        { kind: 'resume', sessionId: 'session-a' },
        { kind: 'fresh' },
        { kind: 'fresh' },
        'its record names no conversation',
        'Each turn of the conversation of a fails with the same error ',
        'Claude wrote no transcript of its conversation ',
      ],
    );
  });

  it('starts three at a time, the next one when a launch is verified, and then is done', () => {
    const story = restore(lost());
    deepStrictEqual(progress(story), ['abc', 'de', 'open']);
    deepStrictEqual(
      five.slice(0, 3).map((name) => {
        const launch = currentLaunch(story.agent(name));
        return [launch?.mode, launch?.expectedSessionId, launch?.cause, launch?.restoration];
      }),
      ['a', 'b', 'c'].map((name) => ['resume', `session-${name}`, 'restore', 'restore-1']),
    );
    story.launched('b', launchOf(story, 'b')).wait(10);
    story.settle();
    deepStrictEqual(progress(story), ['abc', 'de', 'open']);
    comeUp(story, 'c');
    deepStrictEqual(progress(story), ['abd', 'e', 'open']);
    for (const name of ['a', 'd', 'e']) comeUp(story, name);
    deepStrictEqual(progress(story), ['b', '', 'open']);
    fleetStateSchema.parse(JSON.parse(JSON.stringify(story.state)));
    comeUp(story, 'b');
    deepStrictEqual([progress(story), names(story)], [['', '', 'done'], []]);
    fleetStateSchema.parse(JSON.parse(JSON.stringify(story.state)));
  });

  it('goes on with the next one where a launch fails, ends, stops at a dialog, tells nothing or is not bound', () => {
    const story = restore(lost());
    const launchId = launchOf(story, 'a');
    story.tell({ kind: 'launch failed', name: 'a', launchId, code: 'launch-refused', sentence: 'no' });
    story.settle();
    deepStrictEqual(progress(story), ['bcd', 'e', 'open']);
    story.launched('b', launchOf(story, 'b')).tell({
      kind: 'process ended',
      name: 'b',
      launchId: launchOf(story, 'b'),
      exit: { how: 'exited', status: 1, reading: 'conversation not found', detail: 'No conversation found' },
    });
    story.settle();
    deepStrictEqual(progress(story), ['cde', '', 'open']);
    story.launched('c', launchOf(story, 'c'));
    story.tell({ kind: 'screen read', name: 'c', launchId: launchOf(story, 'c'), dialog: 'trust' });
    story.settle();
    deepStrictEqual(progress(story), ['de', '', 'open']);
    const of = launchOf(story, 'd');
    story.launched('d', of).hook({ event: 'SessionStart', source: 'resume', sessionId: 'session-d' }, 'd', of);
    story.wait(21_000).settle();
    deepStrictEqual([progress(story), Object.keys(story.agent('d').incidents)], [['e', '', 'open'], ['bowline-self']]);
    story.launched('e', launchOf(story, 'e')).wait(61_000).settle();
    deepStrictEqual(progress(story), ['', '', 'done']);
  });

  it('is over at once for an agent whose conversation proves to be poisoned while it comes up', () => {
    const story = restore(lost(['a']), ['a']);
    const launchId = launchOf(story, 'a');
    const errors = [1, 2].map((index) => ({ kind: 'poisoned: image', at: story.now + index }));
    story.wait(10).tell({ kind: 'transcript seen', name: 'a', sessionId: 'session-a', file: 'there', errors });
    story
      .launched('a', launchId)
      .hook({ event: 'SessionStart', source: 'resume', sessionId: 'session-a' }, 'a', launchId);
    story.settle();
    deepStrictEqual(progress(story), ['', '', 'done']);
  });

  it('starts those anew that end with the tmux server in its middle, three times at most', () => {
    const story = restore(lost(['a', 'b']), ['a', 'b']);
    comeUp(story, 'a');
    story.launched('b', launchOf(story, 'b'));
    for (const expected of [
      [['ab', '', 'open'], { a: 'launching', b: 'launching' }],
      [['ab', '', 'open'], { a: 'launching', b: 'launching' }],
      [['', '', 'done'], { a: 'stopped', b: 'stopped' }],
    ]) {
      killHost(story);
      story.settle();
      deepStrictEqual([progress(story), kinds(story)], expected);
      if (story.agent('a').life.kind === 'launching') comeUp(story, 'a');
      if (story.agent('b').life.kind === 'launching') story.launched('b', launchOf(story, 'b'));
    }
    deepStrictEqual(names(story), ['a', 'b']);
  });

  it('leaves to a person whom a person has started or removed', () => {
    const story = lost();
    story.request('d', { id: 'd.2', mode: 'resume', expectedSessionId: 'session-d' });
    story.tell({ kind: 'agent removed', name: 'e' });
    restore(story);
    deepStrictEqual(progress(story), ['abc', '', 'open']);
    // Its own launch takes the place of the restoration's.
    story.request('a', { id: 'a.9', mode: 'resume', expectedSessionId: 'session-a' }).settle();
    deepStrictEqual([progress(story), currentLaunch(story.agent('a'))?.cause], [['bc', '', 'open'], 'person']);
    story.tell({ kind: 'stop requested', name: 'b', reason: 'released', then: 'keep' }).settle();
    stopped(story, 'b');
    deepStrictEqual([progress(story), names(story)], [['c', '', 'open'], []]);
  });

  it('called off, stops what is not up, and a second one brings all the rest back', () => {
    const story = restore(lost());
    comeUp(story, 'a');
    story.launched('b', launchOf(story, 'b'));
    callOff(story);
    deepStrictEqual(
      [kinds(story), story.state.restoration?.ended?.left],
      [{ a: 'running', b: 'stopping', c: 'stopping', d: 'stopping', e: 'stopped' }, ['b', 'c', 'd', 'e']],
    );
    for (const name of ['b', 'c', 'd']) stopped(story, name);
    deepStrictEqual(names(story), ['b', 'c', 'd', 'e']);
    restore(story, names(story), 'restore-2');
    deepStrictEqual(progress(story), ['bcd', 'e', 'open']);
    callOff(story, 'restore-2');
    for (const name of ['b', 'c', 'd']) stopped(story, name);
    restore(story, names(story), 'restore-3');
    for (const name of ['c', 'd', 'e']) comeUp(story, name);
    // Whom a person stops in its middle is not brought back.
    story.tell({ kind: 'stop requested', name: 'b', reason: 'released', then: 'keep' }).settle();
    stopped(story, 'b');
    deepStrictEqual([progress(story), names(story)], [['', '', 'done'], []]);
  });

  it('takes more agents in while it is under way, and each request once', () => {
    const story = lost();
    restore(story, ['a', 'b']);
    const before = story.state;
    const requested = { kind: 'restore requested', id: 'restore-1', by: 'window-2', agents: ['b'] } as const;
    const strange = { ...requested, id: 'restore-2', agents: ['c'] };
    story.tell(requested).tell(strange).tell({ kind: 'restore ended', id: 'restore-2', outcome: 'called off' });
    deepStrictEqual(story.state, before);
    restore(story, ['b', 'c', 'd']);
    deepStrictEqual([progress(story), story.state.restoration?.by], [['abc', 'd', 'open'], 'window-1']);
    callOff(story);
    const after = story.state;
    deepStrictEqual(story.tell(requested).state, after);
  });

  it('stands in the audit: who asked, by what rule each was started, and who called it off', () => {
    const story = lost(['a', 'b']);
    const count = story.state.audit.length;
    restore(story, ['a', 'b']);
    comeUp(story, 'a');
    callOff(story);
    const lines = story.state.audit.slice(count).map((record) => {
      if (record.action === 'guard bypassed') return record.action;
      return `${record.agent} ${record.action === 'deed' ? record.what : record.trigger} by ${record.by ?? 'nobody'}`;
    });
    deepStrictEqual(lines, [
      'a restore asked for by window-1',
      'b restore asked for by window-1',
      'a launch requested by rule: restore',
      'b launch requested by rule: restore',
      'a launched by hands: window',
      'a launch verified by gateway',
      'b restore called off by window-2',
      'b stop requested by rule: released',
    ]);
  });

  it('is not held up by the limits of healing, and counts for none of them', () => {
    const story = lost(['a']);
    const healed: FleetEvent = {
      at: story.now,
      kind: 'launch requested',
      name: 'a',
      launch: { id: 'a.2', mode: 'resume', expectedSessionId: 'session-a', requestedAt: story.now, cause: 'healing' },
    };
    story.tell(healed).launched('a', 'a.2');
    restore(killHost(story), ['a']);
    deepStrictEqual(progress(story), ['a', '', 'open']);
  });
});
