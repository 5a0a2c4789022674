import { saveToolOf } from '../guard/saveTool.ts';
import { judgeRestart } from '../guard/verdict.ts';
import type { FleetEvent } from './events.ts';
import { nextLaunch } from './launching.ts';
import type { Agent } from './agent.ts';
import type { Epoch } from './state.ts';

/** In milliseconds. */
export const saveRestartTimes = {
  /** From the request to the save and the end of its turn; a turn that is under way when it is asked counts in. */
  saveWithin: 600_000,
  /** After the end of the turn that should have saved: its last report may come a moment after. */
  turnSettles: 3_000,
} as const;

/** What the agent is asked for. The tool is named in full: models know it by that name. */
export const saveRequestText = [
  'Bowline: you are about to be restarted without this conversation.',
  'Call the tool save_my_context of the MCP server bowline-self now, with everything you need to go on afterwards: the task, what is done, what is left, decisions, and the files that matter.',
  'Then end your turn: start nothing new.',
].join('\n');

/** Restarts once the save is there and its turn ended, or ends the wait with a sentence that tells why nothing was restarted. */
export function planSaveRestart(
  agent: Agent,
  epoch: Epoch | undefined,
  now: number,
): { readonly decisions: readonly FleetEvent[]; readonly wakeAt?: number } {
  const { saveRestart, savedContext, activity, name } = agent;
  if (saveRestart === undefined || saveRestart.ended !== undefined) return { decisions: [] };
  const { promptId, mode, requestedAt } = saveRestart;
  const end = (outcome: 'restarted' | 'not restarted', detail: string): FleetEvent => {
    return { at: now, kind: 'save restart ended', name, promptId, outcome, detail };
  };
  const refuse = (why: string): { readonly decisions: readonly FleetEvent[] } => {
    return { decisions: [end('not restarted', `${name} was not restarted: ${why}`)] };
  };
  const prompt = agent.prompts?.find(({ id }) => id === promptId);
  const isSaved = savedContext !== undefined && savedContext.origin === 'explicit' && savedContext.at >= requestedAt;
  if (agent.life.kind !== 'running' && agent.life.kind !== 'launching') {
    return refuse(`it does not run any more (${agent.life.kind}). Start it, then look whether its context is saved.`);
  }
  if (agent.life.kind === 'running' && isSaved && activity.kind === 'idle' && activity.since >= savedContext.at) {
    const verdict = judgeRestart(agent, mode, saveToolOf(agent, epoch, now), now);
    if (verdict.allowed) {
      const launch = nextLaunch(agent, mode, now);
      return {
        decisions: [
          end('restarted', 'its context is saved'),
          { at: now, kind: 'launch requested', name, launch: { ...launch, cause: 'person' } },
        ],
      };
    }
  }
  if (!isSaved && prompt !== undefined) {
    if (prompt.state.kind === 'failed') return refuse(prompt.state.detail);
    if (prompt.state.kind === 'unknown') return refuse(`it was asked to save, but ${prompt.state.detail}`);
  }
  const deadline = requestedAt + saveRestartTimes.saveWithin;
  if (now >= deadline) {
    const minutes = saveRestartTimes.saveWithin / 60_000;
    return refuse(
      isSaved
        ? `its context is saved, but its turn did not end within ${minutes} min. Wait for its end, then restart it.`
        : `it did not save its context within ${minutes} min. Attach and look, then try again or bypass the guard.`,
    );
  }
  // Its turn came and went without a save: to wait on would be for nothing.
  const receivedAt = prompt?.state.kind === 'received' ? prompt.state.at : undefined;
  if (!isSaved && receivedAt !== undefined && activity.kind === 'idle' && activity.since > receivedAt) {
    const settled = activity.since + saveRestartTimes.turnSettles;
    if (now < settled) return { decisions: [], wakeAt: settled };
    return refuse('it ended its turn without saving its context. Attach and look, then try again or bypass the guard.');
  }
  return { decisions: [], wakeAt: deadline };
}
