import assert from 'node:assert/strict';
import {
  columnsOf,
  columnTitle,
  lifeText,
  nextTrouble,
  notesOf,
  type Place,
  troubledAgents,
} from '../../../src/webview/matrix.ts';
import { keyTarget } from '../../../src/webview/matrixKeys.ts';
import { agent, endpoint, unbound } from './fleetViews.ts';

const server = (name: string, state: 'bound' | 'degraded' = 'bound') => endpoint({ server: name, state });

describe('matrix', () => {
  it("has a column for each server that an agent has, Bowline's own first and without their prefix", () => {
    const rows = [
      agent('ada', { endpoints: [server('zed'), server('bowline-memory'), server('bowline-self')] }),
      agent('bo', { endpoints: [server('bowline-self'), server('apps')] }),
    ];
    const columns = columnsOf(rows);
    assert.deepStrictEqual(columns.map(columnTitle), ['self', 'memory', 'apps', 'zed']);
    assert.deepStrictEqual([columns[0], columnTitle('bowline-own')], ['bowline-self', 'bowline-own']);
  });

  it('leads from one trouble to the next, within an agent and around the end', () => {
    const rows = [
      agent('ada'),
      agent('bo', { endpoints: [server('a', 'degraded'), server('b'), server('c', 'degraded')] }),
      agent('cy', { life: 'dead', endpoints: [endpoint({ state: 'off' })] }),
      agent('di', { endpoints: [unbound('client gave up')] }),
      agent('ed', { endpoints: [endpoint({ state: 'gateway down' }), endpoint({ state: 'pending' })] }),
    ];
    const walked: (Place | undefined)[] = [];
    for (let step = 0, from: Place | undefined; step < 5; step += 1) {
      from = nextTrouble(rows, from);
      walked.push(from);
    }
    assert.deepStrictEqual(walked, [
      { agent: 'bo', server: 'a' },
      { agent: 'bo', server: 'c' },
      { agent: 'cy' },
      { agent: 'di', server: 'bowline-self' },
      { agent: 'bo', server: 'a' },
    ]);
    assert.deepStrictEqual(
      [nextTrouble(rows, { agent: 'bo', server: 'b' }), nextTrouble(rows, { agent: 'gone' })],
      [
        { agent: 'bo', server: 'c' },
        { agent: 'bo', server: 'a' },
      ],
    );
    assert.deepStrictEqual(
      troubledAgents(rows).map(({ name }) => name),
      ['bo', 'cy', 'di'],
    );
    assert.equal(nextTrouble([agent('ada')], undefined), undefined);
  });

  it('says of a life what its word alone does not, and in a line of its own what keeps it', () => {
    const lives = [
      agent('ada', { activity: 'busy', detail: 'runs with its former model: Restart it to use the change' }),
      agent('ada', { activity: 'unknown' }),
      agent('ada', { life: 'healing', detail: 'reconnect' }),
      agent('ada', { life: 'healing', detail: 'waits for the end of its turn' }),
      agent('ada', { life: 'blocked', detail: 'login needed: log in', warnings: ['Not saved.'] }),
      agent('ada', { life: 'stopped', detail: 'by window-1' }),
    ];
    assert.deepStrictEqual(
      lives.map((row) => [lifeText(row), ...notesOf(row)]),
      [
        ['busy'],
        ['ready'],
        ['healing (reconnect)'],
        ['healing', 'waits for the end of its turn'],
        ['blocked', 'login needed: log in', 'Not saved.'],
        ['stopped'],
      ],
    );
  });

  it('is walked by keys that stop at its edges', () => {
    const size = { rows: 200, columns: 9, page: 20 };
    const walk = (...keys: readonly string[]): string => {
      let place = { row: 100, column: 4 };
      for (const key of keys) {
        const [name = '', ctrl] = key.split('+').reverse();
        place = keyTarget(name, { ctrlKey: ctrl === 'Ctrl' }, place, size) ?? { row: -1, column: -1 };
      }
      return `${place.row} ${place.column}`;
    };
    assert.deepStrictEqual(
      [
        walk('ArrowDown', 'ArrowRight'),
        walk('ArrowUp', 'ArrowLeft'),
        walk('Home'),
        walk('End', 'ArrowRight'),
        walk('Ctrl+Home', 'ArrowUp', 'ArrowLeft'),
        walk('Ctrl+End', 'ArrowDown'),
        walk('PageDown'),
        walk('PageUp', 'PageUp', 'PageUp', 'PageUp', 'PageUp', 'PageUp'),
        walk('x'),
      ],
      ['101 5', '99 3', '100 0', '100 8', '0 0', '199 8', '120 4', '0 4', '-1 -1'],
    );
  });
});
