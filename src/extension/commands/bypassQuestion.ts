import type { AgentRow } from '../../core/fleet/select.ts';
import type { Agent } from '../../core/fleet/agent.ts';
import { saveTool } from '../../core/guard/saveTool.ts';
import { judgeRestart, type Verdict } from '../../core/guard/verdict.ts';

/** What the bypass asks, and what goes into the audit. */
export interface BypassQuestion {
  readonly message: string;
  readonly detail: string;
  readonly verdicts: Readonly<Record<'resume' | 'fresh', Verdict>>;
}

/** The guard's view of both ways to restart `agent` at `now`; `row` tells whether its save tool can be reached. */
export function bypassQuestion(agent: Agent, row: AgentRow, now: number): BypassQuestion {
  const tools = saveToolOf(row);
  const resume = judgeRestart(agent, 'resume', tools, now);
  const fresh = judgeRestart(agent, 'fresh', tools, now);
  return {
    message: `Restart ${agent.name}, bypassing the guard?`,
    detail: [
      `Resume its conversation. ${line(resume)}`,
      `Start fresh, without its conversation. ${line(fresh)}`,
      'This is recorded in the audit.',
    ].join('\n\n'),
    verdicts: { resume, fresh },
  };
}

/** Whether the agent can call save_my_context now. */
export function saveToolOf(row: AgentRow): 'reachable' | 'unreachable' {
  return saveTool(row.endpoints.find(({ server }) => server === 'bowline-self')?.state);
}

function line(verdict: Verdict): string {
  const guard = verdict.allowed ? 'allows it' : `says: ${verdict.reason}`;
  const trails =
    verdict.saveTrailsBySeconds === undefined || verdict.saveTrailsBySeconds === 0
      ? ''
      : ` Its last work is ${minutes(verdict.saveTrailsBySeconds)} newer than its saved context.`;
  const why = { no: '', 'tools unreachable': 'its tools are unreachable', 'cannot save': 'each of its turns fails' };
  const downgraded = verdict.downgraded === 'no' ? '' : ` It cannot save: ${why[verdict.downgraded]}.`;
  return `The guard ${guard}.${trails}${downgraded} Lost: ${lowerFirst(verdict.wouldBeLost)}`;
}

function minutes(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
