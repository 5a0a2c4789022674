import { deepStrictEqual } from 'node:assert/strict';
import type { AuditRecord } from '../../../src/core/fleet/state.ts';
import { auditText } from '../../../src/extension/auditText.ts';

const day = 24 * 3600_000;
const view = { window: 'window-1', locale: 'en-GB', timeZone: 'UTC', connection: { kind: 'connected' } } as const;
const audit: readonly AuditRecord[] = [
  { at: 0, agent: 'ada', action: 'life', from: 'none', to: 'stopped', trigger: 'agent created' },
  {
    ...{ at: day, agent: 'ada', action: 'life', from: 'stopped', to: 'launching', trigger: 'launch requested' },
    ...{ by: 'window-1', detail: 'fresh' },
  },
  { at: day + 1_000, agent: 'bo', action: 'deed', what: 'launch verified', by: 'gateway' },
  { at: day + 2_000, agent: 'ada', action: 'deed', what: 'process started', by: 'hands: window-1', detail: 'a\n b.' },
  { at: day + 3_000, agent: 'ada', action: 'deed', what: 'nudge of memory started', by: 'rule: healing' },
  {
    ...{ at: day + 4_000, agent: 'ada', action: 'guard bypassed', mode: 'fresh', by: 'admin API' },
    ...{ verdict: 'save too old.', reason: 'it is late.' },
  },
];

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** Engines differ in commas. */
function date(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(at);
}

describe('the audit as a document', () => {
  it('tells one agent, newest first, by day, with who and what', () => {
    deepStrictEqual(linesOf(auditText({ audit }, { ...view, agent: 'ada' })), [
      '# Audit of ada',
      '5 records, newest first, in the time of UTC. It is kept up to date while it is open.',
      `## ${date(day)}`,
      '- 00:00:04: guard bypassed for a fresh restart; it said: save too old. Reason: it is late. By a script (admin API).',
      '- 00:00:03: nudge of memory started. By the rule for healing.',
      '- 00:00:02: process started: a b. By the hands (this window).',
      '- 00:00:00: launch requested, now launching: fresh. By this window.',
      `## ${date(0)}`,
      '- 00:00:00: agent created, stopped.',
    ]);
  });

  it('tells the whole fleet with names, in the manner of the person, and what the gateway told last', () => {
    const connection = { kind: 'away', since: day, reason: 'it was killed' } as const;
    const text = auditText({ audit }, { ...view, locale: 'de', connection });
    deepStrictEqual(
      linesOf(text)
        .slice(0, 4)
        .concat(linesOf(text)[6] ?? ''),
      [
        '# Audit of the fleet',
        '6 records, newest first, in the time of UTC. It is kept up to date while it is open.',
        'The gateway is away since 00:00:00 (it was killed). This is what was known then.',
        '## Freitag, 2. Januar 1970',
        '- 00:00:02 ada: process started: a b. By the hands (this window).',
      ],
    );
  });

  it('says that there is nothing', () => {
    deepStrictEqual(linesOf(auditText({ audit }, { ...view, agent: 'cy' })), [
      '# Audit of cy',
      'Nothing was done yet.',
    ]);
  });
});
