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
  readonly faults: readonly Fault[];
}

/** The lines that end a run: how often each was killed in each operation, and how many points had which fault. */
export function reportOf(points: readonly Judged[], seconds: number): readonly string[] {
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
    `${passed} passed, ${points.length - passed} failed`,
  ];
}
