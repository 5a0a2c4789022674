import { needOf } from '../core/fleet/need.ts';
import type { FleetView, StatusText } from '../core/fleet/select.ts';
import type { CommandId } from './commands/commandIds.ts';
import { namesToHeal } from './healProgress.ts';

/** What the status bar shows; undefined: the item is hidden. */
export interface StatusLook {
  readonly text: string;
  /** What is said of the fleet as a whole, a line each. */
  readonly lines: readonly string[];
  readonly background: 'none' | 'warning' | 'error';
  readonly accessibleLabel: string;
  /** Offered in the tooltip, too. */
  readonly healing: 'offered' | 'no';
}

const icons: Readonly<Record<StatusText['severity'], string>> = {
  calm: '$(link)',
  neutral: '$(sync~spin)',
  warning: '$(warning)',
  error: '$(error)',
};

/**
 * The status bar item for a view. `startProblem`: why the gateway could not be started. `handsProblem`: why actions of
 * this window wait. Both are said even where the view itself is calm.
 */
export function statusLook(
  view: FleetView,
  problems: { readonly startProblem?: string | undefined; readonly handsProblem?: string | undefined },
): StatusLook | undefined {
  const { startProblem, handsProblem } = problems;
  const isAway = view.connection.kind === 'away';
  if (view.agents.length === 0) {
    if (startProblem === undefined || !isAway) return undefined;
    return look({ text: 'gateway down', detail: startProblem, severity: 'error' }, [], 'no');
  }
  return look(
    view.status,
    [isAway ? startProblem : undefined, handsProblem].filter((line) => line !== undefined),
    !isAway && namesToHeal(view).length > 0 ? 'offered' : 'no',
  );
}

function look(
  { text, detail, severity }: StatusText,
  more: readonly string[],
  healing: StatusLook['healing'],
): StatusLook {
  const lines = [`Bowline: ${text}`, ...detail.split('\n'), ...more].filter((line) => line !== '');
  return {
    text: `${icons[severity]} ${text}`,
    lines,
    background: severity === 'warning' || severity === 'error' ? severity : 'none',
    accessibleLabel: lines.join(', '),
    healing,
  };
}

/** A line of the tooltip: plain text, and what can be done about it. */
export interface ReportLine {
  readonly text: string;
  readonly links: readonly ReportLink[];
}

export interface ReportLink {
  readonly label: string;
  readonly command: CommandId;
  readonly agent?: string;
}

const namedAtMost = 8;

/** The tooltip as a small report: what is said of the fleet, who waits for a person, and what can be done. */
export function statusReport(view: FleetView, { lines, healing }: StatusLook): readonly ReportLine[] {
  const waiting = view.agents.flatMap((row) => {
    const need = needOf(row);
    return need === undefined ? [] : [{ row, need }];
  });
  const rows = waiting.slice(0, namedAtMost).map(({ row: { name, worst }, need }): ReportLine => {
    const attach: ReportLink = { label: 'Attach', command: 'bowline.attach', agent: name };
    const resume: ReportLink = { label: 'Resume', command: 'bowline.start', agent: name };
    const why = need.detail === need.kind || need.detail === '' ? '' : `: ${need.detail}`;
    return { text: `${name} is ${need.kind}${why}`, links: [worst === 'off' ? resume : attach] };
  });
  const more = waiting.length > namedAtMost ? [plain(`${waiting.length - namedAtMost} more wait for you.`)] : [];
  // What is said of one agent stands with its link already.
  const whole = lines.filter((line) => !waiting.some(({ row, need }) => line === `${row.name}: ${need.detail}`));
  return [
    ...whole.map(plain),
    ...rows,
    ...more,
    {
      text: '',
      links: [
        ...(healing === 'offered' ? [{ label: '$(heart) Heal All', command: 'bowline.healAll' } as const] : []),
        ...(waiting.length > 0
          ? [{ label: '$(bell) Next Waiting Agent', command: 'bowline.nextWaiting' } as const]
          : []),
        { label: '$(pulse) Verify All', command: 'bowline.verifyAll' },
        { label: '$(info) Causes and Actions', command: 'bowline.showCauses' },
        { label: '$(checklist) Doctor', command: 'bowline.doctor' },
      ],
    },
  ];
}

function plain(text: string): ReportLine {
  return { text, links: [] };
}
