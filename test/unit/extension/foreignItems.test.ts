import { deepStrictEqual } from 'node:assert/strict';
import { foreignItems } from '../../../src/extension/foreignItems.ts';

describe('Claude sessions to choose from', () => {
  it('tell first words, status, age, version and directory, and why one cannot be adopted', () => {
    const bare = { pid: 71, sessionId: 'b', name: 'agent', refused: 'It works on a turn.' };
    const rows = [
      {
        ...{ pid: 70, sessionId: 'a', startTime: 'x', directory: '/work/site', version: '2.1.332' },
        ...{ status: 'idle' as const, startedAt: 7, firstPrompt: 'hello', name: 'site' },
      },
      { ...bare, directory: '/work/shop', status: 'busy' as const },
      bare,
    ];
    deepStrictEqual(
      foreignItems(rows, (at) => `at ${at}`).map(({ row: _row, ...item }) => item),
      [
        { label: 'hello', description: 'idle, since at 7, Claude Code 2.1.332, process 70', detail: '/work/site' },
        { label: '$(circle-slash) b', description: 'busy, process 71', detail: '/work/shop: It works on a turn.' },
        { label: '$(circle-slash) b', description: 'status unknown, process 71', detail: 'It works on a turn.' },
      ],
    );
  });
});
