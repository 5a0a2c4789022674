import { causeText } from '../core/binding/causes.ts';
import { isBound } from '../core/binding/health.ts';
import type { AgentRow, Blackout, FleetView } from '../core/fleet/select.ts';

/** Names of the agents that lost their tools by a cause that healing can mend. */
export function namesToHeal({ blackouts }: Pick<FleetView, 'blackouts'>): readonly string[] {
  const mendable = blackouts.filter(({ cause }) => causeText(cause).mend === 'reconnect');
  return [...new Set(mendable.flatMap(({ agents }) => agents))];
}

/** Agents that need a person: those of one outage `together`, with one of them and how many they are. */
export interface AgentsInNeed {
  readonly alone: readonly AgentRow[];
  readonly together: readonly { readonly blackout: Blackout; readonly first: AgentRow; readonly count: number }[];
}

/** Sorts agents that need a person by the outage in which healing has ended for them. */
export function byOutage(rows: readonly AgentRow[], blackouts: readonly Blackout[]): AgentsInNeed {
  const outageOf = ({ name }: AgentRow): Blackout | undefined =>
    blackouts.find(({ needPerson }) => needPerson.includes(name));
  return {
    alone: rows.filter((row) => outageOf(row) === undefined),
    together: blackouts.flatMap((blackout) => {
      const fresh = rows.filter((row) => outageOf(row) === blackout);
      const [first] = fresh;
      return first === undefined ? [] : [{ blackout, first, count: fresh.length }];
    }),
  };
}

/** How far healing of some agents is. */
export interface HealProgress {
  readonly bound: readonly string[];
  /** Healing has ended without success, or was called off; each with its sentence. */
  readonly needPerson: readonly { readonly name: string; readonly detail: string }[];
  /** They were stopped or removed meanwhile. */
  readonly gone: readonly string[];
  readonly open: readonly string[];
  /** For example `3 of 10 have their tools again, bo waits until it is idle`. */
  readonly message: string;
}

/** Judges the agents `names` as the view shows them. */
export function healProgress(names: readonly string[], { agents }: Pick<FleetView, 'agents'>): HealProgress {
  const rows = new Map(agents.map((row) => [row.name, row]));
  const having = (wanted: HealFate): readonly string[] => names.filter((name) => fateOf(rows.get(name)) === wanted);
  const bound = having('bound');
  const open = having('open');
  const needPerson = having('needs a person').map((name) => ({ name, detail: rows.get(name)?.detail ?? '' }));
  const waiting = open.filter((name) => rows.get(name)?.activity !== 'idle' && rows.get(name)?.life === 'healing');
  const verb = waiting.length === 1 ? 'waits until it is idle' : 'wait until they are idle';
  const more = waiting.length === 0 ? '' : `, ${list(waiting)} ${verb}`;
  const message = `${bound.length} of ${names.length} ${names.length === 1 ? 'has its' : 'have their'} tools again${more}`;
  return { bound, needPerson, gone: having('gone'), open, message };
}

/** What came out, in one sentence, and how grave that is. */
export function healResult(progress: HealProgress): {
  readonly severity: 'info' | 'warning';
  readonly sentence: string;
} {
  const { bound, needPerson, gone, open } = progress;
  if (needPerson.length + gone.length + open.length === 0) {
    const what =
      bound.length === 1 ? `${list(bound)} has its tools again.` : `All ${bound.length} agents have their tools again.`;
    return { severity: 'info', sentence: what };
  }
  const parts = [
    `${progress.message}.`,
    ...needPerson.map(({ name, detail }) => `${name}: ${detail}`),
    ...(gone.length === 0 ? [] : [`Not running any more: ${list(gone)}.`]),
    ...(open.length === 0 ? [] : [`Not healed yet: ${list(open)}.`]),
  ];
  return { severity: 'warning', sentence: parts.join(' ') };
}

type HealFate = 'bound' | 'needs a person' | 'gone' | 'open';

function fateOf(row: AgentRow | undefined): HealFate {
  switch (row?.life) {
    case undefined:
    case 'stopped':
    case 'sleeping':
      return 'gone';
    case 'blocked':
    case 'dead':
      return 'needs a person';
    case 'ready':
      return isBound({ state: row.worst }) ? 'bound' : 'open';
    case 'launching':
    case 'verifying':
    case 'healing':
    case 'stopping':
      return 'open';
  }
}

function list(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
}
