import { deepStrictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { DoubtCause } from '../../../src/core/binding/bindingRecord.ts';
import type { UnboundCause } from '../../../src/core/binding/health.ts';
import type { ActivityKind } from '../../../src/core/fleet/agent.ts';
import type { ShownLife } from '../../../src/core/fleet/lifeOf.ts';
import type { EndpointState } from '../../../src/core/fleet/select.ts';
import type { BlockedReason, DeadReason } from '../../../src/core/fleet/life.ts';
import type { GuardReason, Verdict } from '../../../src/core/guard/verdict.ts';

// A new member of a union has to be named here, and then in the README.
const bindings: Readonly<Record<EndpointState, true>> = {
  pending: true,
  bound: true,
  suspect: true,
  degraded: true,
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
const causes: Readonly<Record<UnboundCause | DoubtCause, true>> = {
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
  'epoch changed': true,
  'stream dropped': true,
  'host slept': true,
  'probe late': true,
  asked: true,
};
const activities: Readonly<Record<ActivityKind, true>> = {
  idle: true,
  busy: true,
  'waiting for permission': true,
  'waiting for input': true,
  unknown: true,
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
const verdicts: Readonly<Record<GuardReason | Exclude<Verdict['downgraded'], 'no'> | 'guard error', true>> = {
  ok: true,
  'not running': true,
  'no completed turn': true,
  'turn in progress': true,
  'waiting for permission': true,
  'unsent input': true,
  'missing context': true,
  'missing explicit save': true,
  'different session': true,
  'save too old': true,
  'tools unreachable': true,
  'cannot save': true,
  'guard error': true,
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
  it('have every state of a binding, every cause, life, activity and verdict of the guard, and no other', () => {
    deepStrictEqual(
      [firstCells('state'), firstCells('cause'), firstCells('life'), firstCells('activity'), firstCells('verdict')],
      [bindings, causes, lives, activities, verdicts].map((names) => Object.keys(names).sort()),
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
    const rows = ['state', 'cause', 'life', 'activity', 'verdict'].flatMap(table);
    deepStrictEqual(
      rows.filter(([, , meaning = '', todo = '']) => meaning === '' || todo === ''),
      [],
    );
  });
});
