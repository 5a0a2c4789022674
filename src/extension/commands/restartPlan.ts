import { askGateway } from '../askGateway.ts';
import { restartPlanText } from '../restartPlanText.ts';
import { type RestartPlan, restartPlanSchema } from '../../protocol/restartPlan.ts';
import type { CommandContext } from './commandContext.ts';
import { chooseAgent, connect } from './interaction.ts';

/** Shows what a restart would do, with the conversation and without it; nothing is done. */
export async function showRestartPlan(context: CommandContext, argument: unknown): Promise<void> {
  const row = await chooseAgent(context, argument, { title: 'Show the restart plan of which agent?' });
  if (row === undefined) return;
  await connect(context);
  const { name } = row;
  const plans: RestartPlan[] = [];
  for (const mode of ['resume', 'fresh'] as const) {
    plans.push(await askGateway(context.paths, `/agents/${name}/plan?mode=${mode}`, restartPlanSchema));
  }
  const bypasses = context.presenter.state.audit.flatMap((record) =>
    record.action === 'guard bypassed' && record.agent === name ? record : [],
  );
  await context.reports.show(`Restart Plan of ${name}`, restartPlanText(name, plans, bypasses));
}
