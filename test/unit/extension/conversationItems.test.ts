import { deepStrictEqual } from 'node:assert/strict';
import { conversationItems } from '../../../src/extension/conversationItems.ts';
import type { ConversationRow } from '../../../src/protocol/conversations.ts';

describe('conversations to choose from', () => {
  it('tell first words, whose they are and how they came about, time, size, and what speaks against them', () => {
    const row = (sessionId: string, more: Partial<ConversationRow>): ConversationRow => {
      return { sessionId, relation: 'other', at: 7, transcript: { path: '/t', bytes: 500 }, ...more };
    };
    const rows = [
      row('a', { relation: 'current', cause: 'clear', firstPrompt: 'hello' }),
      row('b', { relation: 'former', cause: 'fork', transcript: { path: '/t', bytes: 2_048 } }),
      row('c', { firstPrompt: 'look', objection: 'of bo', transcript: { path: '/t', bytes: 3_500_000 } }),
      row('e', { relation: 'former', cause: 'of the future' }),
    ];
    const { transcript: _none, ...untouched } = row('d', { relation: 'former' });
    deepStrictEqual(
      conversationItems([...rows, untouched], (at) => `at ${at}`).map(({ row: _row, ...item }) => item),
      [
        { label: 'hello', description: 'current, begun by /clear, at 7, 500 B', detail: 'a' },
        { label: 'b', description: 'of this agent, forked, at 7, 2 kB', detail: '' },
        { label: 'look', description: 'at 7, 3.3 MB, of bo', detail: 'c' },
        { label: 'e', description: 'of this agent, of the future, at 7, 500 B', detail: '' },
      ],
    );
  });
});
