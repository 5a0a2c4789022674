import { BowlineError } from '../../base/errors.ts';
import type { FleetState } from '../../core/fleet/state.ts';
import type { HandsFact } from '../../protocol/fleetEvent.ts';
import type { HandsTask } from '../../protocol/stream.ts';
import type { Environment } from '../environment.ts';
import type { TmuxClient } from '../tmux/tmuxClient.ts';

/** What the tasks of the hands work with. */
export interface TaskContext {
  readonly tmux: TmuxClient;
  /** Environment of the hosting process. */
  readonly environment: Environment;
  readonly fleet: () => FleetState;
  readonly report: (facts: readonly HandsFact[]) => void;
  readonly now: () => number;
  /**
   * How long another process may still use the conversation of a launch before that is refused, in milliseconds: a claude
   * whose terminal went runs its last hooks before it ends.
   */
  readonly othersEndWithin: number;
}

export type TaskOf<Kind extends HandsTask['kind']> = Extract<HandsTask, { kind: Kind }>;

/** Why a task ends that is wanted by nobody any more. For any other reason it stays wanted, and other hands go on with it. */
export const calledOff = new BowlineError('cancelled', 'called off');
