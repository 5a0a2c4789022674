import { isRestorable } from '../core/fleet/restore.ts';
import type { AgentRow, FleetView } from '../core/fleet/select.ts';
import type { RestoreRow } from '../protocol/restorePlan.ts';

/** What a person is asked before a restore; `possible`: the agents that it would bring back. */
export interface RestoreQuestion {
  readonly possible: readonly string[];
  readonly message: string;
  readonly detail: string;
}

/** The plan of a restore, as a question. */
export function restoreQuestion(rows: readonly RestoreRow[]): RestoreQuestion {
  const possible = rows.filter(isPossible);
  const blocked = rows.filter((row) => !isPossible(row));
  const lines = [
    ...possible.map(({ name, directory, verdict }) => {
      const what =
        verdict.kind === 'resume'
          ? `goes on with conversation ${verdict.sessionId.slice(0, 8)}`
          : 'begins anew: no conversation of it is to be brought back';
      return `${name} in ${directory} ${what}.`;
    }),
    ...(blocked.length === 0 ? [] : [`${possible.length === 0 ? '' : '\n'}Not restored:`]),
    ...blocked.map(({ name, directory, verdict }) => `${name} in ${directory}: ${'why' in verdict ? verdict.why : ''}`),
  ];
  const message =
    possible.length === 0
      ? `${countOf(blocked.length)} ended with the tmux server or the machine, and none can be restored.`
      : `Restore ${countOf(possible.length)}, a few at a time?`;
  return { possible: possible.map(({ name }) => name), message, detail: lines.join('\n') };
}

/** For example `1 of 3 are back, bo and cy are being started`. */
export function restoreMessage(names: readonly string[], { agents }: Pick<FleetView, 'agents'>): string {
  const { back, open } = fatesOf(names, agents);
  const starting = open.filter((name) => agents.some((row) => row.name === name && row.life !== 'stopped'));
  const more = starting.length === 0 ? '' : `, being started: ${starting.join(', ')}`;
  return `${back.length} of ${names.length} back${more}`;
}

/** What came out, in one sentence for each agent that is not back, and how grave that is. */
export function restoreResult(
  names: readonly string[],
  blocked: readonly RestoreRow[],
  { agents }: Pick<FleetView, 'agents'>,
): { readonly severity: 'info' | 'warning'; readonly sentence: string } {
  const { back, open, needPerson, gone } = fatesOf(names, agents);
  const all = names.length + blocked.length;
  if (back.length === all) {
    const sentence = all === 1 ? `${names.join()} is back.` : `All ${all} agents are back.`;
    return { severity: 'info', sentence };
  }
  const parts = [
    `${back.length} of ${countOf(all)} ${back.length === 1 ? 'is' : 'are'} back.`,
    ...needPerson.map(({ name, detail }) => `${name}: ${detail}`),
    ...(open.length === 0 ? [] : [`Not up yet: ${open.join(', ')}.`]),
    ...(gone.length === 0 ? [] : [`Not started: ${gone.join(', ')}. Restore All tries it again.`]),
    ...blocked.map(({ name, verdict }) => `${name}: ${'why' in verdict ? verdict.why : ''}`),
  ];
  return { severity: 'warning', sentence: parts.join(' ') };
}

/** What a person hears who called it off. */
export function calledOffSentence(names: readonly string[], { agents }: Pick<FleetView, 'agents'>): string {
  const { back } = fatesOf(names, agents);
  return `${back.length} of ${countOf(names.length)} ${back.length === 1 ? 'is' : 'are'} back. Restore All brings back the others.`;
}

interface Fates {
  readonly back: readonly string[];
  readonly open: readonly string[];
  readonly needPerson: readonly { readonly name: string; readonly detail: string }[];
  readonly gone: readonly string[];
}

function fatesOf(names: readonly string[], agents: readonly AgentRow[]): Fates {
  const rows = new Map(agents.map((row) => [row.name, row]));
  const having = (...lives: readonly AgentRow['life'][]): readonly string[] => {
    return names.filter((name) => {
      const life = rows.get(name)?.life;
      return life !== undefined && lives.includes(life);
    });
  };
  return {
    back: having('ready', 'sleeping'),
    open: having('launching', 'verifying', 'healing'),
    needPerson: having('blocked', 'dead').map((name) => ({ name, detail: rows.get(name)?.detail ?? '' })),
    gone: [...having('stopped', 'stopping'), ...names.filter((name) => !rows.has(name))],
  };
}

export function isPossible({ verdict }: RestoreRow): boolean {
  return isRestorable(verdict);
}

function countOf(count: number): string {
  return count === 1 ? '1 agent' : `${count} agents`;
}
