import { deepStrictEqual } from 'node:assert/strict';
import { readTarget } from '../../../src/extension/agentNodes.ts';

describe('what a command is pointed at', () => {
  it('is a name, a row, or nothing', () => {
    const given = ['ada', { kind: 'agent', agent: 'ada' }, { agent: 'ada', server: 'memory' }, undefined, 7, null, {}];
    deepStrictEqual(given.map(readTarget), [
      { agent: 'ada' },
      { agent: 'ada' },
      { agent: 'ada', server: 'memory' },
      {},
      {},
      {},
      {},
    ]);
  });
});
