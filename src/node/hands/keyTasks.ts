import { delay } from '../../base/async.ts';
import { type ActivityKind, type PromptState, runningLaunch } from '../../core/fleet/agent.ts';
import { promptForbiddenBy } from '../../core/fleet/planPrompts.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import { interruptTurn } from './interrupt.ts';
import { lookAtScreen } from './look.ts';
import { type PromptFact, type PromptStep, stepPrompt } from './sendPrompt.ts';
import type { TaskContext, TaskOf } from './taskContext.ts';
import { typeLine } from './typeLine.ts';

/** Where the pane of a prompt is not there, it is looked for again after this. */
const paneAgainMs = 2_000;

/** A turn that cannot be interrupted yet is looked at again after this. */
const interruptAgainMs = 250;

/** One step of bringing a prompt into its agent. */
export async function promptTaskStep(
  task: TaskOf<'prompt'>,
  signal: AbortSignal,
  context: TaskContext,
): Promise<PromptStep> {
  const { tmux, fleet, now } = context;
  const { name, launchId, promptId } = task;
  if (signal.aborted) return { kind: 'done' };
  const pane = await livePaneOf(launchId, context);
  // Whether it has ended, the observer tells.
  if (pane === undefined) return { kind: 'again', afterMs: paneAgainMs };
  const state = (): PromptState | undefined => {
    return fleet().agents[name]?.prompts?.find(({ id }) => id === promptId)?.state;
  };
  const report = (fact: PromptFact): void => {
    const subject = { at: now(), name, promptId };
    context.report([fact.kind === 'prompt waits' ? { ...subject, ...fact } : { ...subject, ...fact, launchId }]);
  };
  const stillWanted = (): boolean => {
    if (signal.aborted || !isIdle(name, launchId, context)) return false;
    const { agents, epoch } = fleet();
    const agent = agents[name];
    // What stands in its input line already is submitted all the same.
    const isTyped = state()?.kind === 'typed';
    return agent !== undefined && (isTyped || promptForbiddenBy(agent, epoch, now()) === undefined);
  };
  return stepPrompt(tmux, pane, task, { now, stillWanted, state, report });
}

/** Types a line of the healing into an idle agent. */
export async function typeTask(task: TaskOf<'type'>, signal: AbortSignal, context: TaskContext): Promise<void> {
  const { tmux, report, now } = context;
  const { name, launchId, server, attemptId } = task;
  const pane = await livePaneOf(launchId, context);
  const stillWanted = (): boolean => !signal.aborted && isIdle(name, launchId, context);
  const outcome =
    pane === undefined
      ? ({ kind: 'put off', reason: 'the agent is not running' } as const)
      : await typeLine(tmux, pane, task.text, { now, stillWanted, attempt: attemptId });
  // Whoever called it off knows; it may be wanted again by now.
  if (outcome.kind === 'put off' && signal.aborted) return;
  const subject = { at: now(), name, server, attemptId };
  report([
    outcome.kind === 'typed'
      ? { ...subject, kind: 'rung acted' }
      : { ...subject, kind: 'rung ended', outcome: 'put off', detail: outcome.reason },
  ]);
}

/** Looks at the screen of an agent once. */
export async function lookTask({ name, launchId, askedAt }: TaskOf<'look'>, context: TaskContext): Promise<void> {
  const pane = await livePaneOf(launchId, context);
  // Whether it has ended, the observer tells.
  if (pane === undefined) return;
  const shows = await lookAtScreen(context.tmux, pane);
  context.report([{ at: context.now(), kind: 'screen looked at', name, launchId, askedAt, shows }]);
}

/** Tried until Escape was pressed, must not be, or is not wanted any more. */
export async function interruptTask(
  task: TaskOf<'interrupt'>,
  signal: AbortSignal,
  context: TaskContext,
): Promise<void> {
  const { tmux, report, now } = context;
  const { name, launchId, interruptId } = task;
  const stillWanted = (): boolean => !signal.aborted && activityOf(name, launchId, context) === 'busy';
  while (!signal.aborted) {
    const pane = await livePaneOf(launchId, context);
    if (pane === undefined) return;
    const step = await interruptTurn(tmux, pane, interruptId, { now, stillWanted });
    const subject = { at: now(), name, launchId, interruptId };
    switch (step.kind) {
      case 'pressed':
        report([{ ...subject, kind: 'interrupt pressed' }]);
        return;
      case 'refused': {
        const detail = `${name} was not interrupted: ${step.reason}. Attach to ${name} and answer it.`;
        report([{ ...subject, kind: 'interrupt ended', outcome: 'no effect', detail }]);
        return;
      }
      case 'put off':
        await delay(interruptAgainMs, signal).catch(() => undefined);
    }
  }
}

/** The pane in which this launch lives; undefined: it lives in none. */
async function livePaneOf(launchId: string, { tmux }: TaskContext): Promise<PaneInfo | undefined> {
  await tmux.connect();
  return (await tmux.listPanes()).find((pane) => pane.launchId === launchId && !pane.dead);
}

function isIdle(name: string, launchId: string, context: TaskContext): boolean {
  return activityOf(name, launchId, context) === 'idle';
}

/** Undefined: this launch does not run. */
function activityOf(name: string, launchId: string, { fleet }: TaskContext): ActivityKind | undefined {
  const agent = fleet().agents[name];
  const running = agent === undefined ? undefined : runningLaunch(agent);
  return running?.launch.id === launchId ? agent?.activity.kind : undefined;
}
