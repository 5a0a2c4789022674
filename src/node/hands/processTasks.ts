import { BowlineError } from '../../base/errors.ts';
import { shellLine } from '../../core/claude/shellLine.ts';
import { knownLaunchIds } from '../../core/fleet/agent.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import { agentBaseEnvironment } from '../environment.ts';
import { checkProgram, isNotFound, killSession, newSession, respawnPane } from '../tmux/paneOperations.ts';
import type { TmuxClient } from '../tmux/tmuxClient.ts';
import { refuseInUse } from './conversationUse.ts';
import { endProcess } from './endProcess.ts';
import { findClaude } from './findClaude.ts';
import { whatForbidsEnding } from './look.ts';
import { calledOff, type TaskContext, type TaskOf } from './taskContext.ts';
import { useOf } from './useOf.ts';

/** Starts the process of a launch in its agent's pane, over the former one; only reports it where it runs already. */
export async function launchTask(task: TaskOf<'launch'>, signal: AbortSignal, context: TaskContext): Promise<void> {
  const { tmux, fleet } = context;
  const environment = { ...agentBaseEnvironment(context.environment), ...task.environment };
  await tmux.connect();
  const panes = await tmux.listPanes();
  const already = panes.find((pane) => pane.launchId === task.launchId);
  if (already !== undefined) {
    launched(task, already, context);
    return;
  }
  const program = await findClaude(task.program, environment);
  signal.throwIfAborted();
  const { name, launchId, directory } = task;
  const argv = [program, ...task.arguments];
  // Before anything is ended: a launch that cannot start leaves the former process alone.
  await checkProgram({ directory, argv, environment });
  const inSession = panes.filter((pane) => pane.sessionName === name);
  const former = inSession.find((pane) => isOf(name, pane, context)) ?? inSession[0];
  if (former !== undefined && !isOf(name, former, context)) throw stranger(former, tmux);
  await refuseInUse(fleet().agents[name], environment, former, context.othersEndWithin, signal);
  signal.throwIfAborted();
  if (former !== undefined && !former.dead && task.guard !== 'bypassed') {
    const reason = await whatForbidsEnding(tmux, former);
    if (reason !== undefined) throw new BowlineError('guard-blocked', reason);
    signal.throwIfAborted();
  }
  if (former !== undefined) await endProcess(former);
  signal.throwIfAborted();
  const start = { name, directory, argv, environment, launchId };
  const again = former && (await respawned(tmux, former, start));
  const pane = again ?? (await newSession(tmux, start));
  if (signal.aborted) {
    // An unverified launch that nobody wants is never kept.
    if (signal.reason === calledOff) await remove(pane, tmux);
    return;
  }
  launched(task, pane, context);
}

/** Ends what runs for an agent, or reports why it is not put to sleep. */
export async function endTask(task: TaskOf<'end'>, signal: AbortSignal, context: TaskContext): Promise<void> {
  const { tmux, report, now } = context;
  const { name, launchId } = task;
  const presence = await tmux.server.presence();
  if (presence.kind === 'unknown') throw presence.error;
  if (presence.kind === 'running') {
    await tmux.connect();
    const panes = (await tmux.listPanes()).filter((pane) => pane.sessionName === name && isOf(name, pane, context));
    if (task.unless === 'in use') {
      const detail = await useOf(tmux, panes, now);
      if (signal.aborted) return;
      if (detail !== undefined) {
        report([{ at: now(), kind: 'sleep put off', name, launchId, detail }]);
        return;
      }
    }
    for (const pane of panes) await remove(pane, tmux);
  }
  const exit = { how: 'gone', reading: 'other', detail: 'stopped' } as const;
  report([{ at: now(), kind: 'process ended', name, launchId, exit }]);
}

/** Undefined: the pane is gone, as all are when the tmux server ends and another one is started meanwhile. */
function respawned(...given: Parameters<typeof respawnPane>): Promise<PaneInfo | undefined> {
  return respawnPane(...given).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

function launched({ name, launchId }: TaskOf<'launch'>, pane: PaneInfo, { report, now }: TaskContext): void {
  const process = { tmuxSession: pane.sessionId, pane: pane.paneId, pid: pane.pid };
  report([{ at: now(), kind: 'launched', name, launchId, process }]);
}

/** Whether the pane may be ended for this agent: nothing lives in it, or one of the agent's own launches does. */
function isOf(name: string, pane: PaneInfo, { fleet }: TaskContext): boolean {
  const agent = fleet().agents[name];
  return pane.dead || (agent !== undefined && knownLaunchIds(agent).includes(pane.launchId));
}

/** The record of it was lost, or a person started it. It may hold work, so that only a person may end it. */
function stranger(pane: PaneInfo, { server: { socketPath } }: TmuxClient): BowlineError {
  const tmux = `tmux -S ${/^[\w/.-]+$/.test(socketPath) ? socketPath : shellLine([socketPath])}`;
  return new BowlineError(
    'launch-refused',
    `A process that Bowline has no record of (${pane.pid}) runs in the tmux session ${pane.sessionName}; it was not touched. ` +
      `See it: ${tmux} attach -t ${pane.sessionName}. End it there, or so: ${tmux} kill-session -t ${pane.sessionName}. ` +
      'Then use Resume.',
  );
}

async function remove(pane: PaneInfo, tmux: TmuxClient): Promise<void> {
  await endProcess(pane);
  await killSession(tmux, pane);
}
