import { adoptSession } from './adopt.ts';
import { clearAgentFilter, filterAgentsBy, groupAgentsBy, nextWaiting } from './agentsView.ts';
import { attach } from './attach.ts';
import { showAudit } from './audit.ts';
import { reconnectMcp, verifyAll, verifyBinding } from './binding.ts';
import type { CommandContext, CommandHandler } from './commandContext.ts';
import type { CommandId } from './commandIds.ts';
import { configureAgent } from './configure.ts';
import { exportDiagnostics } from './diagnostics.ts';
import { doctor } from './doctor.ts';
import { forkConversation, keepTrying } from './conversations.ts';
import { healAll, healNow } from './heal.ts';
import { showError } from './interaction.ts';
import { hostResumed, remove, start, stop, stopAll } from './lifecycle.ts';
import { interruptTurn } from './interruptTurn.ts';
import { mcpServers } from './mcpServers.ts';
import { newAgent } from './newAgent.ts';
import { notificationsOf } from './notifications.ts';
import { openTranscript, resumeOtherConversation } from './otherConversation.ts';
import { reconcileFleet } from './reconcile.ts';
import { reconnectUpstream } from './reconnectUpstream.ts';
import { forceFreshRestart, restart, restartBypassingGuard } from './restart.ts';
import { restoreAll } from './restore.ts';
import { showRestartPlan } from './restartPlan.ts';
import { sendPrompt, sendPromptDocument } from './sendPrompt.ts';
import { showCauses } from './showCauses.ts';
import { showLog } from './showLog.ts';

const handlers: Readonly<Record<CommandId, CommandHandler>> = {
  'bowline.newAgent': newAgent,
  'bowline.adoptSession': adoptSession,
  'bowline.attach': attach,
  'bowline.sendPrompt': sendPrompt,
  'bowline.sendPromptDocument': sendPromptDocument,
  'bowline.interruptTurn': interruptTurn,
  'bowline.restart': restart,
  'bowline.forceFreshRestart': forceFreshRestart,
  'bowline.restartBypassingGuard': restartBypassingGuard,
  'bowline.showRestartPlan': showRestartPlan,
  'bowline.showAudit': showAudit,
  'bowline.forkConversation': forkConversation,
  'bowline.keepTrying': keepTrying,
  'bowline.resumeOtherConversation': resumeOtherConversation,
  'bowline.openTranscript': openTranscript,
  'bowline.stop': stop,
  'bowline.stopAll': stopAll,
  'bowline.start': start,
  'bowline.restoreAll': restoreAll,
  'bowline.configureAgent': configureAgent,
  'bowline.mcpServers': mcpServers,
  'bowline.remove': remove,
  'bowline.verifyBinding': verifyBinding,
  'bowline.reconnectMcp': reconnectMcp,
  'bowline.reconnectUpstream': reconnectUpstream,
  'bowline.healNow': healNow,
  'bowline.healAll': healAll,
  'bowline.hostResumed': hostResumed,
  'bowline.reconcileFleet': reconcileFleet,
  'bowline.showCauses': showCauses,
  'bowline.nextWaiting': nextWaiting,
  'bowline.verifyAll': verifyAll,
  'bowline.groupAgents': groupAgentsBy,
  'bowline.filterAgents': filterAgentsBy,
  'bowline.clearAgentFilter': clearAgentFilter,
  'bowline.notifications': notificationsOf,
  'bowline.doctor': doctor,
  'bowline.showLog': showLog,
  'bowline.exportDiagnostics': exportDiagnostics,
};

/** An error of a command ends here: it is told to the person and logged. */
export async function runCommand(context: CommandContext, id: CommandId, argument: unknown): Promise<void> {
  try {
    await handlers[id](context, argument);
  } catch (error) {
    showError(context, id, error);
  }
}
