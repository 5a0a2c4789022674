import { deepStrictEqual } from 'node:assert/strict';
import { readAgentName } from '../../../../src/core/fleet/names.ts';

describe('agent names', () => {
  it('takes names by one rule', () => {
    const good = ['ada', 'agent-1', 'agent-10', '0', 'a_b', 'a'.repeat(32)];
    deepStrictEqual(
      good.map((name) => readAgentName(name)),
      good.map((name) => ({ ok: true, name })),
    );
  });

  it('refuses everything else with a sentence that shows the text and what would do (cases 7, 19)', () => {
    const bad = ['', '  ', '../x', 'a.b:c', 'Ada', 'ada ', '-a', '_a', "a'b", '$(id)', '🦆', 'a\nb', 'a'.repeat(200)];
    const sentences = bad.map((text) => {
      const reading = readAgentName(text);
      return reading.ok ? 'taken' : reading.sentence;
    });
    deepStrictEqual(
      {
        allTellTheRule: sentences.every((sentence) => sentence.endsWith('for example "ada".')),
        traversal: sentences[2]?.startsWith('"../x" cannot be'),
        long: sentences.at(-1)?.includes('has 200 characters'),
        control: sentences.at(-2)?.includes('\n'),
      },
      { allTellTheRule: true, traversal: true, long: true, control: false },
    );
  });

  it('refuses the one word of that form which every JavaScript object has', () => {
    const reading = readAgentName('constructor');
    deepStrictEqual(reading, { ok: false, sentence: '"constructor" is a reserved word. Choose another name.' });
  });
});
