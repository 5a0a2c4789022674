import type { StatePaths } from '../../node/statePaths.ts';
import type { AgentsTree } from '../agentsTree.ts';
import type { Attention } from '../attention.ts';
import type { AuditDocuments } from '../auditDocuments.ts';
import type { FleetPresenter } from '../fleetPresenter.ts';
import type { GatewayClient } from '../gatewayClient.ts';
import type { ChannelLog } from '../log.ts';
import type { MutedAgents } from '../mutedAgents.ts';
import type { Memory } from '../memory.ts';
import type { ReportDocuments } from '../reportDocuments.ts';
import type { AgentTerminals } from '../terminals.ts';
import type { WindowFacts } from '../windowFacts.ts';

/** What commands work with. */
export interface CommandContext {
  readonly client: GatewayClient;
  readonly presenter: FleetPresenter;
  readonly terminals: AgentTerminals;
  readonly attention: Attention;
  readonly log: ChannelLog;
  readonly paths: StatePaths;
  readonly reports: ReportDocuments;
  readonly audit: AuditDocuments;
  readonly windowFacts: WindowFacts;
  readonly agents: AgentsTree;
  readonly muted: MutedAgents;
  /** Choices of this person, kept for all windows. */
  readonly memory: Memory;
}

/** A command gets the row it was invoked on, or other arguments of a caller; whatever comes is read by a schema. */
export type CommandHandler = (context: CommandContext, argument: unknown) => Promise<void>;
