import { deepStrictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { UnboundCause } from '../../../src/core/binding/health.ts';
import type { ShownLife } from '../../../src/core/fleet/lifeOf.ts';
import type { EndpointState } from '../../../src/core/fleet/select.ts';
import type { BlockedReason, DeadReason } from '../../../src/core/fleet/life.ts';

// A new member of a union has to be named here, and then in the README.
const bindings: Readonly<Record<EndpointState, true>> = {
  pending: true,
  bound: true,
  suspect: true,
  unbound: true,
  'not checkable': true,
  'gateway down': true,
  off: true,
};
const lives: Readonly<Record<ShownLife, true>> = {
  stopped: true,
  launching: true,
  verifying: true,
  ready: true,
  healing: true,
  sleeping: true,
  stopping: true,
  blocked: true,
  dead: true,
};
const causes: Readonly<Record<UnboundCause, true>> = {
  'gateway was away': true,
  'client gave up': true,
  'tools never listed': true,
  'never connected': true,
  'trust dialog': true,
  'approval dialog': true,
  'name missing': true,
  'name blank': true,
  'name literal variable': true,
  'name malformed': true,
  'name unknown': true,
  'key missing': true,
  'key wrong': true,
  'key of another agent': true,
  'server unknown': true,
  'launch stale': true,
  'two live launches': true,
};
const reasons: Readonly<Record<BlockedReason | DeadReason, true>> = {
  'resume failed': true,
  'login needed': true,
  'launch refused': true,
  'configuration error': true,
  'conversation poisoned': true,
  'conversation in use': true,
  crashed: true,
  'binary missing': true,
  'healing failed': true,
  'crash loop': true,
};

const readme = readFileSync(path.resolve(__dirname, '../../../README.md'), 'utf8');

/** The cells of the rows below the heading that begins with this word. */
function table(heading: string): readonly (readonly string[])[] {
  const text = new RegExp(`\\n\\| ${heading} +\\|.*?\\n\\| -.*?\\n(.*?)\\n\\n`, 's').exec(readme)?.[1] ?? '';
  return text.split('\n').map((row) => row.split('|').map((cell) => cell.trim()));
}

function firstCells(heading: string): readonly string[] {
  const cells = table(heading).flatMap(([, cell = '']) => cell.split(', '));
  return [...new Set(cells)].sort();
}

describe('tables of states in the README', () => {
  it('have every state of a binding, every cause and every life, and no other', () => {
    deepStrictEqual(
      [firstCells('state'), firstCells('cause'), firstCells('life')],
      [bindings, causes, lives].map((names) => Object.keys(names).sort()),
    );
  });

  it('tell every reason for which only a person goes on', () => {
    const rows = table('life').filter(([, life]) => life === 'blocked' || life === 'dead');
    const told = rows.map(([, , when]) => when).join();
    deepStrictEqual(
      Object.keys(reasons).filter((reason) => !told.includes(reason)),
      [],
    );
  });

  it('say what to do in every row', () => {
    const rows = ['state', 'cause', 'life'].flatMap(table);
    deepStrictEqual(
      rows.filter(([, , meaning = '', todo = '']) => meaning === '' || todo === ''),
      [],
    );
  });
});
