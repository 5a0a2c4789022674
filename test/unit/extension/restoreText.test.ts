import { deepStrictEqual } from 'node:assert/strict';
import type { AgentRow } from '../../../src/core/fleet/select.ts';
import {
  calledOffSentence,
  restoreMessage,
  restoreQuestion,
  restoreResult,
} from '../../../src/extension/restoreText.ts';
import type { RestoreRow } from '../../../src/protocol/restorePlan.ts';

const row = (name: string, life: AgentRow['life'], detail = ''): AgentRow => ({
  ...{ name, life, detail, directory: `/${name}`, activity: 'idle', warnings: [], endpoints: [], worst: 'bound' },
});
const planned = (name: string, verdict: RestoreRow['verdict']): RestoreRow => ({
  name,
  directory: `/${name}`,
  verdict,
});
const resumed = { kind: 'resume', sessionId: '12345678-9' } as const;
const blocked = planned('cy', { kind: 'blocked', why: 'no exact id.' });

describe('what a restore says', () => {
  it('asks with the plan: names, directories, conversations, and why the others are not restored', () => {
    const rows = [planned('ada', resumed), planned('bo', { kind: 'fresh' }), blocked];
    deepStrictEqual(restoreQuestion(rows), {
      possible: ['ada', 'bo'],
      message: 'Restore 2 agents, a few at a time?',
      detail: [
        'ada in /ada goes on with conversation 12345678.',
        'bo in /bo begins anew: no conversation of it is to be brought back.',
        '',
        'Not restored:',
        'cy in /cy: no exact id.',
      ].join('\n'),
    });
    deepStrictEqual(restoreQuestion([blocked]), {
      possible: [],
      message: '1 agent ended with the tmux server or the machine, and none can be restored.',
      detail: 'Not restored:\ncy in /cy: no exact id.',
    });
  });

  it('tells how far it is', () => {
    const agents = [row('ada', 'ready'), row('bo', 'verifying'), row('cy', 'stopped', 'the tmux server ended')];
    deepStrictEqual(
      [restoreMessage(['ada', 'bo', 'cy'], { agents }), restoreMessage(['ada'], { agents })],
      ['1 of 3 back, being started: bo', '1 of 1 back'],
    );
  });

  it('tells what came out, with the next step where one is not back', () => {
    const agents = [row('ada', 'ready'), row('bo', 'blocked', 'resume failed: no'), row('cy', 'healing')];
    const result = (names: readonly string[], rows: readonly RestoreRow[] = []): readonly [string, string] => {
      const { severity, sentence } = restoreResult(names, rows, { agents });
      return [severity, sentence];
    };
    deepStrictEqual(
      [
        result(['ada']),
        restoreResult(['ada', 'bo'], [], { agents: [row('ada', 'ready'), row('bo', 'ready')] }).sentence,
        result(['ada', 'bo', 'cy', 'dee'], [planned('ed', { kind: 'ambiguous', why: 'two can be it.' })]),
        calledOffSentence(['ada', 'bo'], { agents }),
      ],
      [
        ['info', 'ada is back.'],
        'All 2 agents are back.',
        [
          'warning',
          '1 of 5 agents is back. bo: resume failed: no Not up yet: cy. Not started: dee. Restore All tries it again. ed: two can be it.',
        ],
        '1 of 2 agents is back. Restore All brings back the others.',
      ],
    );
  });
});
