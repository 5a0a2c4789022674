import { deepStrictEqual } from 'node:assert/strict';
import { readTranscript } from '../../../../src/core/claude/transcript.ts';
import { forkPoint, poisonedTurns } from '../../../../src/core/claude/turns.ts';
import { fixture, versions } from './fixtures.ts';

const thinking = 'API Error: 400 messages.1.content.0: `thinking` blocks cannot be modified';
const image = 'API Error: 400 Could not process image';
const passing = 'API Error: 529 Overloaded';

/** One line per word: p(rompt), a(nswer), t(hinking), i(mage), s(erver trouble), o(ther). */
function transcript(words: string): ReturnType<typeof readTranscript>['facts'] {
  const lines = Array.from(words.replaceAll(' ', '')).map((word, index) => {
    const timestamp = new Date(index + 1).toISOString();
    const text = { t: thinking, i: image, s: passing }[word] ?? 'text';
    const message = { content: [{ type: 'text', text }] };
    if (word === 'p') return { type: 'user', timestamp, message };
    if (word === 'o') return { type: 'system', timestamp };
    return { type: 'assistant', timestamp, message, ...(word !== 'a' && { isApiErrorMessage: true }) };
  });
  return readTranscript(lines.map((line) => `${JSON.stringify(line)}\n`).join('')).facts;
}

describe('turns of a transcript', () => {
  it('tell how many of the last ones failed in a row by the same kind of poison', () => {
    const cases: readonly (readonly [string, readonly number[]])[] = [
      ['', []],
      ['pa pa', []],
      ['pa pt', [4]],
      ['pa pt pt', [4, 6]],
      ['pt pt pa', []],
      ['pt pa pt', [6]],
      // An answer of the same turn after the error: a retry helped.
      ['pa pta', []],
      ['pa pat pt', [5, 7]],
      // Another kind begins anew.
      ['pi pt pt', [4, 6]],
      // What passes, and what was interrupted before any answer, tells nothing.
      ['pa pt ps p pt o', [4, 9]],
      ['pa ps', []],
    ];
    deepStrictEqual(
      cases.map(([words]) => [words, poisonedTurns(transcript(words)).map(({ at }) => at)]),
      cases,
    );
  });

  it('tell where a copy ends: before the turn that failed first, and before the one whose answer it could not take', () => {
    const cases: readonly (readonly [string, ReturnType<typeof forkPoint>])[] = [
      ['pa pa', undefined],
      ['pa pa pat pt', { lines: 4, leftOut: 2 }],
      ['pa pa pt pt', { lines: 2, leftOut: 3 }],
      ['pa pa pi pi', { lines: 4, leftOut: 2 }],
      ['o o pa o pi o', { lines: 5, leftOut: 1 }],
      ['pt pt', undefined],
      ['pa pt', undefined],
      ['pat pt', undefined],
    ];
    deepStrictEqual(
      cases.map(([words]) => [words, forkPoint(transcript(words))]),
      cases,
    );
  });

  for (const version of versions) {
    it(`read the errors that claude ${version} writes`, () => {
      const { facts } = readTranscript(fixture(version, 'transcript.jsonl'));
      deepStrictEqual(
        poisonedTurns(facts).map(({ kind, at }) => [kind, at > 1_700_000_000_000]),
        [['poisoned: thinking blocks', true]],
      );
    });
  }
});
