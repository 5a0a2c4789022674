import assert from 'node:assert/strict';
import { readWindowMessage } from '../../../src/gateway/windowMessages.ts';

describe('messages of windows', () => {
  const read = (value: unknown): ReturnType<typeof readWindowMessage> => readWindowMessage(JSON.stringify(value));

  it('answers a damaged request by its number, and ends on what cannot be answered', () => {
    assert.deepStrictEqual(
      [
        readWindowMessage(undefined).kind,
        readWindowMessage('{').kind,
        readWindowMessage('null').kind,
        read({ kind: 'dance' }).kind,
        read({ kind: 'request', id: 3, command: { kind: 'stop', name: 'A b' } }),
        read({ kind: 'resync' }),
      ],
      [
        'damaged',
        'damaged',
        'damaged',
        'damaged',
        {
          kind: 'answerable',
          id: 3,
          reason: 'not understood: command.name: Invalid string: must match pattern /^[a-z0-9][a-z0-9_-]{0,31}$/',
          dropped: [],
        },
        { kind: 'ok', message: { kind: 'resync' }, dropped: [] },
      ],
    );
  });

  it('drops one bad fact alone', () => {
    const good = { at: 1, kind: 'screen read', name: 'ada', launchId: 'l' };
    const reading = read({ kind: 'hands report', facts: [good, { ...good, name: 'A b' }, { kind: 'agent died' }] });
    assert.deepStrictEqual(
      {
        message: reading.kind === 'ok' && reading.message,
        places: reading.dropped.map((reason) => reason.slice(0, 6)),
      },
      { message: { kind: 'hands report', facts: [good] }, places: ['fact 1', 'fact 2'] },
    );
  });
});
