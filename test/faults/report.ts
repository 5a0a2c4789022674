import type { Victim } from './faultFleet.ts';

/**
 * What is wrong after a point: something is not there any more, there is more than one of it, an agent is in another
 * conversation than its own, nobody was killed, or anything else.
 */
export type Fault = `${(typeof kinds)[number]}: ${string}`;

const kinds = ['lost', 'doubled', 'conversation', 'not killed', 'other'] as const;

/** What became of a point. */
export interface Judged {
  readonly operation: string;
  readonly victim: Victim;
  /** Of its step. */
  readonly label: string;
  readonly faults: readonly Fault[];
}

/** Looks at tmux: how many there are depends on what else is going on, so that the last of them may not come again. */
const looks: readonly string[] = ['list-panes', 'list-clients', 'capture-pane', 'display-message'];

/** Whether a step asks tmux and changes nothing: `tmux <command>, <command>`. */
function isLook(label: string): boolean {
  return (
    label.startsWith('tmux ') &&
    label
      .slice('tmux '.length)
      .split(', ')
      .every((command) => looks.includes(command))
  );
}

/** Whether a point at which nobody was killed is no step of its operation: a look whose kind others were killed at. */
export function isLookElsewhere(point: Judged, all: readonly Judged[]): boolean {
  const { operation, victim, label } = point;
  const wasKilled = (other: Judged): boolean => !other.faults.some((fault) => fault.startsWith('not killed'));
  return (
    isLook(label) &&
    !wasKilled(point) &&
    point.faults.length === 1 &&
    all.some((one) => {
      return one.operation === operation && one.victim === victim && one.label === label && wasKilled(one);
    })
  );
}

/** The lines that end a run: how often each was killed in each operation, and how many points had which fault. */
export function reportOf(judged: readonly Judged[], seconds: number): readonly string[] {
  const points = judged.filter((point) => !isLookElsewhere(point, judged));
  const operations = [...new Set(points.map(({ operation }) => operation))];
  const rows = operations.map((name) => {
    const own = points.filter(({ operation }) => operation === name);
    const of = (victim: Victim): number => own.filter((point) => point.victim === victim).length;
    const good = own.filter(({ faults }) => faults.length === 0).length;
    return [name, own.length, of('gateway'), of('window'), of('tmux'), good];
  });
  const head = ['operation', 'points', 'gateway', 'window', 'tmux', 'good'];
  const counts = kinds.map((kind) => {
    return `${kind} ${points.filter(({ faults }) => faults.some((fault) => fault.startsWith(`${kind}: `))).length}`;
  });
  const passed = points.filter(({ faults }) => faults.length === 0).length;
  return [
    ...[head, ...rows].map(([name, ...figures]) => {
      return `${String(name).padEnd(30)}${figures.map((figure) => String(figure).padStart(9)).join('')}`;
    }),
    `${points.length} points in ${seconds} s, each with one kill: ${counts.join(', ')}`,
    `looks at tmux that came at other times, and are not among them: ${judged.length - points.length}`,
    `${passed} passed, ${points.length - passed} failed`,
  ];
}
