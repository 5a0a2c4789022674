import type { AgentRow } from '../../core/fleet/select.ts';
import type { CommandContext } from './commandContext.ts';
import { awaitLaunch, chooseAgent, isAllowedToLaunch } from './interaction.ts';

/** Goes on in a copy of the conversation that ends before its bad turn. */
export async function forkConversation(context: CommandContext, argument: unknown): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  const row = await chooseAgent(context, argument, {
    title: 'Fork the conversation of which agent?',
    ...onlyPoisoned,
  });
  if (row === undefined) return;
  const launchesBefore = context.presenter.state.agents[row.name]?.launchCount ?? 0;
  context.attention.watch(row.name);
  await context.client.request({ kind: 'fork', name: row.name });
  await awaitLaunch(context, row.name, launchesBefore);
}

/** Lifts the quarantine of a conversation whose turns all failed. */
export async function keepTrying(context: CommandContext, argument: unknown): Promise<void> {
  if (!(await isAllowedToLaunch())) return;
  const row = await chooseAgent(context, argument, { title: 'Keep trying with which agent?', ...onlyPoisoned });
  if (row === undefined) return;
  context.attention.watch(row.name);
  await context.client.request({ kind: 'keep trying', name: row.name });
}

const onlyPoisoned = {
  fits: ({ poison }: AgentRow): boolean => poison !== undefined,
  none: 'No conversation is poisoned: the turns of every agent go through.',
};
