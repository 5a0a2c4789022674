import type { FleetView, StatusText } from '../core/fleet/select.ts';
import { namesToHeal } from './healProgress.ts';

/** What the status bar shows; undefined: the item is hidden. */
export interface StatusLook {
  readonly text: string;
  readonly tooltip: string;
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
  const lines = [`Bowline: ${text}`, detail, ...more].filter((line) => line !== '');
  return {
    text: `${icons[severity]} ${text}`,
    tooltip: [...lines, 'Click for causes and actions.'].join('\n'),
    background: severity === 'warning' || severity === 'error' ? severity : 'none',
    accessibleLabel: lines.join(', '),
    healing,
  };
}
