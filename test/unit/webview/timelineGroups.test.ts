import assert from 'node:assert/strict';
import { groupTimeline } from '../../../src/webview/timelineGroups.ts';

const entry = (at: number, agent: string, text: string, server?: string) => ({
  at,
  agent,
  text,
  ...(server !== undefined && { server }),
});

describe('timeline groups', () => {
  it('are newest first and join what happened to several agents at nearly the same time, also when mixed', () => {
    const entries = [
      entry(0, 'ada', 'stream dropped', 'self'),
      entry(10, 'ada', 'stream opened', 'self'),
      entry(900, 'bo', 'stream dropped', 'self'),
      entry(950, 'bo', 'stream opened', 'self'),
      entry(1_000, 'cy', 'stream dropped', 'other'),
      entry(5_000, 'di', 'stream dropped', 'self'),
    ];
    assert.deepStrictEqual(groupTimeline(entries, 100), [
      { at: 5_000, text: 'stream dropped', server: 'self', agents: ['di'] },
      { at: 1_000, text: 'stream dropped', server: 'other', agents: ['cy'] },
      { at: 950, text: 'stream opened', server: 'self', agents: ['ada', 'bo'] },
      { at: 900, text: 'stream dropped', server: 'self', agents: ['ada', 'bo'] },
    ]);
  });

  it('keep the order of what happened to one agent, whatever happened to others at nearly the same time', () => {
    const entries = [
      entry(0, 'ada', 'reconnect failed'),
      entry(10, 'ada', 'resume started'),
      entry(20, 'bo', 'reconnect failed'),
      entry(900, 'bo', 'resume started'),
    ];
    assert.deepStrictEqual(
      groupTimeline(entries, 100).map(({ text, agents }) => [text, ...agents]),
      [
        ['resume started', 'ada', 'bo'],
        ['reconnect failed', 'ada', 'bo'],
      ],
    );
    const crossed = [...entries.slice(0, 3), entry(5_000, 'bo', 'resume started')];
    assert.deepStrictEqual(
      groupTimeline(crossed, 100).map(({ text, agents }) => [text, ...agents]),
      [
        ['resume started', 'bo'],
        ['reconnect failed', 'bo'],
        ['resume started', 'ada'],
        ['reconnect failed', 'ada'],
      ],
    );
  });

  it('have a line of their own for the whole fleet, which parts what was before from what was after', () => {
    const epoch = { at: 500, kind: 'epoch' as const, text: 'the gateway was restarted' };
    const entries = [entry(0, 'ada', 'stream dropped'), epoch, entry(900, 'bo', 'stream dropped')];
    assert.deepStrictEqual(
      groupTimeline(entries, 100).map(({ text, kind, agents }) => [text, kind, ...agents]),
      [
        ['stream dropped', undefined, 'bo'],
        ['the gateway was restarted', 'epoch'],
        ['stream dropped', undefined, 'ada'],
      ],
    );
  });

  it('never hide that a thing happened twice to one agent', () => {
    const entries = [entry(0, 'ada', 'dialog gone'), entry(100, 'ada', 'dialog gone')];
    assert.deepStrictEqual(
      groupTimeline(entries, 100).map(({ at, agents }) => [at, ...agents]),
      [
        [100, 'ada'],
        [0, 'ada'],
      ],
    );
  });

  it('keep the newest lines, counted after joining', () => {
    const entries = Array.from({ length: 300 }, (_, index) => entry(index * 10_000, 'ada', `event ${index}`));
    const texts = groupTimeline(entries, 100).map(({ text }) => text);
    assert.deepStrictEqual([texts.length, texts[0], texts.at(-1)], [100, 'event 299', 'event 200']);
  });
});
