import type { GuardBypass } from '../core/fleet/state.ts';
import type { RestartPlan } from '../protocol/restartPlan.ts';

/** The plans of both ways to restart an agent, and when its guard was bypassed, as a document. */
export function restartPlanText(name: string, plans: readonly RestartPlan[], bypasses: readonly GuardBypass[]): string {
  const audit = bypasses.toReversed().map(({ at, mode, by, verdict, reason }) => {
    const why = reason === '' ? '' : ` ${reason}`;
    return `- ${new Date(at).toISOString()}: ${mode}, by ${by}. The guard said: ${verdict}.${why}`;
  });
  return [
    `# Restart plan of ${name}`,
    'A dry run: nothing was done.',
    ...plans.flatMap((plan) => section(plan)),
    '## Guard bypassed before',
    audit.length === 0 ? 'Never.' : audit.join('\n'),
    '',
  ].join('\n\n');
}

function section(plan: RestartPlan): readonly string[] {
  const { asked, mode, sessionId, poisoned, directory, command } = plan;
  const conversation =
    mode === 'resume'
      ? `Conversation: ${sessionId ?? ''} is resumed.`
      : asked === 'resume'
        ? 'Conversation: a new one; there is none that could be resumed.'
        : 'Conversation: a new one.';
  return [
    asked === 'resume' ? '## Restart' : '## Force Fresh Restart',
    ...guardLines(plan),
    ...(poisoned === undefined ? [] : [`Refused: ${poisoned}`]),
    conversation,
    `Directory: ${directory}`,
    `Command: ${command}`,
    environmentLine(plan),
  ];
}

function guardLines({ guard }: RestartPlan): readonly string[] {
  if (guard.kind === 'error') {
    const then = guard.setting === 'block' ? 'The restart is blocked' : 'The restart goes on and says so';
    return [`Guard: it failed (${guard.detail}). ${then} (bowline.guardError).`];
  }
  const unseen = 'Its screen was not looked at: whether unsent input stands there is not known.';
  return [
    `Guard: ${guard.sentence.trimEnd()}`,
    `Would be lost: ${guard.wouldBeLost}`,
    ...(guard.context === 'stale' ? ['Its saved context is older than 12 h.'] : []),
    ...(guard.screen === 'looked at' || guard.reason === 'not running' ? [] : [unseen]),
  ];
}

function environmentLine({ environment }: RestartPlan): string {
  const list = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
  if (environment.kind === 'nothing to compare') {
    return `Variables that Bowline sets: ${list(environment.set)}. No process to compare them with.`;
  }
  const { added, changed, removed } = environment;
  if ([...added, ...changed, ...removed].length === 0) {
    return 'Variables that Bowline sets: the same as in the process that runs.';
  }
  return `Variables against the process that runs: added ${list(added)}; changed ${list(changed)}; removed ${list(removed)}.`;
}
