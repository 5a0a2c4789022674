import { deepStrictEqual } from 'node:assert/strict';
import type { DoctorLine } from '../../../src/core/doctor/line.ts';
import { doctorItems } from '../../../src/extension/doctorItems.ts';

describe("the Doctor's list", () => {
  it('says in words what Enter does on a line, and ends with the report', () => {
    const setting = { kind: 'open setting', setting: 'bowline.tmuxPath' } as const;
    const lines: readonly DoctorLine[] = [
      { subject: 'tmux', verdict: 'problem', text: 'It is missing.', fixes: [setting] },
      {
        subject: 'gateway',
        verdict: 'problem',
        text: 'It is away.',
        fixes: [{ kind: 'start gateway' }, { kind: 'show log' }],
      },
      { subject: 'PATH', verdict: 'good', text: 'All is found.', fixes: [] },
    ];
    deepStrictEqual(
      doctorItems(lines).map((item) =>
        item.kind === 'line' ? [item.label, item.description, item.detail] : item.label,
      ),
      [
        '2 problems, 1 good',
        ['$(error) tmux', 'problem · Enter: Open Setting bowline.tmuxPath', 'It is missing.'],
        ['$(error) gateway', 'problem · Enter: 2 ways to mend it', 'It is away.'],
        ['$(pass) PATH', 'good', 'All is found.'],
        'Report',
        '$(copy) Copy Report',
        '$(go-to-file) Open Report',
        '$(refresh) Run Again',
      ],
    );
  });
});
