import type { StatePaths } from '../../node/statePaths.ts';
import type { Attention } from '../attention.ts';
import type { AuditDocuments } from '../auditDocuments.ts';
import type { FleetPresenter } from '../fleetPresenter.ts';
import type { GatewayClient } from '../gatewayClient.ts';
import type { ChannelLog } from '../log.ts';
import type { RestartPlanDocuments } from '../restartPlanDocuments.ts';
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
  readonly plans: RestartPlanDocuments;
  readonly audit: AuditDocuments;
  readonly windowFacts: WindowFacts;
}

/** A command gets the row it was invoked on, or other arguments of a caller; whatever comes is read by a schema. */
export type CommandHandler = (context: CommandContext, argument: unknown) => Promise<void>;
