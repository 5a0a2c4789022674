import { deepStrictEqual } from 'node:assert/strict';
import type { AgentRow } from '../../../src/core/fleet/select.ts';
import { byOutage, healProgress, healResult, namesToHeal } from '../../../src/extension/healProgress.ts';
import { agent, blackout, endpoint, unbound } from '../webview/fleetViews.ts';

const lost = [unbound('client gave up')];
const off = [endpoint({ state: 'off' })];

function told(names: readonly string[], agents: readonly AgentRow[]): readonly string[] {
  const progress = healProgress(names, { agents });
  const { severity, sentence } = healResult(progress);
  return [`${progress.open.length} open`, progress.message, severity, sentence];
}

describe('healing of several agents', () => {
  it('is aimed at those that lost their tools by a cause that it can mend', () => {
    const blackouts = [
      blackout('key wrong', ['ada']),
      blackout('client gave up', ['bo']),
      blackout('gateway was away', ['bo', 'cy']),
    ];
    deepStrictEqual(namesToHeal({ blackouts }), ['bo', 'cy']);
  });

  it('makes one message of the agents of one outage, and one each of all others', () => {
    const rows = ['ada', 'bo', 'cy', 'di'].map((name) => agent(name, { life: 'blocked' }));
    const blackouts = [
      { ...blackout('gateway was away', ['ada', 'bo', 'ed']), needPerson: ['ada', 'bo'] },
      { ...blackout('client gave up', ['cy']), needPerson: ['cy'] },
      blackout('never connected', ['di']),
    ];
    const { alone, together } = byOutage(rows, blackouts);
    deepStrictEqual(
      [
        alone.map(({ name }) => name),
        together.map(({ blackout: { cause }, first, count }) => [cause, first.name, count]),
      ],
      [
        ['di'],
        [
          ['gateway was away', 'ada', 2],
          ['client gave up', 'cy', 1],
        ],
      ],
    );
  });

  it('tells how far it is, and whom it waits for', () => {
    const agents = [
      agent('ada'),
      agent('bo', { life: 'healing', endpoints: lost, activity: 'busy' }),
      agent('cy', { life: 'healing', endpoints: lost }),
      agent('di', { life: 'launching', endpoints: [endpoint({ state: 'pending' })] }),
    ];
    deepStrictEqual(told(['ada', 'bo', 'cy', 'di'], agents).slice(0, 2), [
      '3 open',
      '1 of 4 have their tools again, bo waits until it is idle',
    ]);
  });

  it('tells what came out: all, or who needs a person and why', () => {
    const agents = [
      agent('ada'),
      agent('bo', { endpoints: [endpoint({ state: 'not checkable' })] }),
      agent('cy', { life: 'dead', endpoints: lost, detail: 'healing failed: Restart did not help.' }),
      agent('di', { life: 'stopped', endpoints: off }),
    ];
    deepStrictEqual(
      [told(['ada'], agents), told(['ada', 'bo'], agents), told(['ada', 'cy', 'di', 'ed'], agents)],
      [
        ['0 open', '1 of 1 has its tools again', 'info', 'ada has its tools again.'],
        ['0 open', '2 of 2 have their tools again', 'info', 'All 2 agents have their tools again.'],
        [
          '0 open',
          '1 of 4 have their tools again',
          'warning',
          '1 of 4 have their tools again. cy: healing failed: Restart did not help. Not running any more: di, ed.',
        ],
      ],
    );
  });
});
