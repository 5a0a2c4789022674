import { deepStrictEqual } from 'node:assert/strict';
import { select } from '../../../src/core/fleet/select.ts';
import { pointedAt, readSeveral } from '../../../src/extension/agentNodes.ts';
import { ClosedTerminalNotice } from '../../../src/extension/closedTerminalNotice.ts';
import { newlyWaiting } from '../../../src/extension/launchOutcome.ts';
import { MutedAgents } from '../../../src/extension/mutedAgents.ts';
import { nextInNeed } from '../../../src/extension/nextInNeed.ts';
import { agentColor, readTerminalLocation } from '../../../src/extension/terminalLook.ts';
import { verifyResult } from '../../../src/extension/verifyResult.ts';
import { FleetStory } from '../../harness/fleetStory.ts';
import { FakeMemory } from './fakeMemory.ts';

const rows = (story: FleetStory): ReturnType<typeof select>['agents'] =>
  select(story.state, { kind: 'connected' }, story.now).agents;

describe('a question of an agent', () => {
  it('is news when it begins, not while it stands, and not for a window that has just opened', () => {
    const idle = rows(FleetStory.bound());
    const busy = FleetStory.bound().hook({ event: 'UserPromptSubmit' });
    const asking = rows(busy.hook({ event: 'Notification', waitingFor: 'permission' }));
    // The hook names it otherwise than the file did.
    const otherwise = asking.map((row) => ({ ...row, activity: 'waiting for input' as const }));
    const names = (found: typeof idle): readonly string[] => found.map(({ name }) => name);
    deepStrictEqual(
      [
        names(newlyWaiting(idle, asking)),
        names(newlyWaiting(asking, asking)),
        names(newlyWaiting(asking, otherwise)),
        names(newlyWaiting([], asking)),
        names(newlyWaiting(asking, idle)),
      ],
      [['ada'], [], [], [], []],
    );
  });
});

describe('muted agents', () => {
  it('are kept, each once, and are none where something else is kept', async () => {
    const memory = new FakeMemory();
    const muted = new MutedAgents(memory);
    await muted.mute('ada');
    await muted.mute('bo');
    await muted.mute('ada');
    const kept = new MutedAgents(memory).names;
    await muted.set(['bo']);
    const has = ['ada', 'bo'].map((name) => muted.has(name));
    await memory.update('mutedAgents', 'ada');
    deepStrictEqual([kept, has, muted.names], [['ada', 'bo'], [false, true], []]);
  });
});

describe('closing the terminal of an agent', () => {
  it('is told once to end nothing, for an agent that runs', () => {
    const told: string[] = [];
    const story = FleetStory.bound().create('bo');
    const notice = new ClosedTerminalNotice(
      () => story.state,
      new FakeMemory(),
      (sentence) => told.push(sentence),
    );
    notice.closed('bo');
    notice.closed('nobody');
    const before = told.length;
    notice.closed('ada');
    notice.closed('ada');
    deepStrictEqual([before, told.length, told[0]?.startsWith('ada goes on without its terminal.')], [0, 1, true]);
  });

  it('has terminals of one colour for a name, in the panel unless the setting says otherwise', () => {
    deepStrictEqual(
      [
        agentColor('ada') === agentColor('ada'),
        new Set(['ada', 'bo', 'cy', 'di', 'ed', 'fay'].map(agentColor)).size > 2,
        ['panel', 'editor', 'beside', 'elsewhere', undefined].map(readTerminalLocation),
      ],
      [true, true, ['panel', 'editor', 'beside', 'panel', 'panel']],
    );
  });
});

describe('the next agent that waits', () => {
  it('is the one after the last, and after all of them the first', () => {
    const waiting = rows(new FleetStory().create('ada').create('bo').create('cy'));
    const next = (last?: string): string | undefined => nextInNeed(waiting, last)?.name;
    deepStrictEqual(
      [next(), next('ada'), next('cy'), next('gone'), nextInNeed([], 'ada')],
      ['ada', 'bo', 'ada', 'ada', undefined],
    );
  });
});

describe('what a command was pointed at', () => {
  const row = (agent: string): unknown => ({ kind: 'agent', agent });

  it('is several agents where several rows are selected and it was chosen on one', () => {
    const selection = [
      row('ada'),
      row('bo'),
      { kind: 'endpoint', agent: 'bo', server: 'docs' },
      { kind: 'group', group: 'Idle' },
    ];
    deepStrictEqual(
      [
        readSeveral(pointedAt(row('ada'), selection)),
        pointedAt(row('ada'), [row('ada')]),
        pointedAt(row('ada'), undefined),
        pointedAt(selection[2], selection),
        readSeveral(row('ada')),
      ],
      [['ada', 'bo'], row('ada'), row('ada'), selection[2], undefined],
    );
  });
});

describe('what probing several agents tells', () => {
  it('is one sentence, with those that have not their tools', () => {
    const good = FleetStory.bound();
    const mixed = FleetStory.bound().create('bo').request('bo').launched('bo');
    deepStrictEqual(
      [verifyResult(rows(good)), verifyResult(rows(mixed))],
      [
        { isGood: true, sentence: 'ada has its tools.' },
        { isGood: false, sentence: '1 of 2 agents have their tools. Not so: bo (pending).' },
      ],
    );
  });
});
