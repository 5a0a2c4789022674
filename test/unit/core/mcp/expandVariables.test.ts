import { deepStrictEqual } from 'node:assert/strict';
import { type Expansion, expandVariables } from '../../../../src/core/mcp/expandVariables.ts';

const environment = { KEY: 'k-1', EMPTY: '', PATH: '/bin' };

describe('expandVariables', () => {
  const cases: readonly (readonly [string, Expansion])[] = [
    ['plain', { kind: 'expanded', text: 'plain' }],
    ['Bearer ${KEY}', { kind: 'expanded', text: 'Bearer k-1' }],
    ['${KEY}${KEY}:${PATH}', { kind: 'expanded', text: 'k-1k-1:/bin' }],
    ['${KEY:-other}', { kind: 'expanded', text: 'k-1' }],
    ['${NONE:-other}', { kind: 'expanded', text: 'other' }],
    ['${NONE:-}', { kind: 'expanded', text: '' }],
    ['${NONE:-a:-b}', { kind: 'expanded', text: 'a:-b' }],
    ['${EMPTY:-other}', { kind: 'expanded', text: '' }],
    ['$KEY and ${', { kind: 'expanded', text: '$KEY and ${' }],
    ['${NONE} ${KEY} ${GONE}', { kind: 'missing', names: ['NONE', 'GONE'] }],
    ['${constructor}', { kind: 'missing', names: ['constructor'] }],
  ];
  for (const [text, expansion] of cases) {
    it(`reads ${text}`, () => {
      deepStrictEqual(expandVariables(text, environment), expansion);
    });
  }

  it('does not expand what a value holds', () => {
    deepStrictEqual(expandVariables('${A}', { A: '${KEY} $& $1', KEY: 'k' }), {
      kind: 'expanded',
      text: '${KEY} $& $1',
    });
  });
});
