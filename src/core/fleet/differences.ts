import { type Agent, knownLaunchIds, liveLaunchIds, runningLaunch } from './agent.ts';
import type { FleetEvent } from './events.ts';
import { agentNamePattern } from './names.ts';
import { agentOf, type FleetState } from './state.ts';

/** One pane of a complete listing by tmux. */
export interface SeenPane {
  readonly sessionName: string;
  /** Empty: Bowline did not start it. */
  readonly launchId: string;
  readonly pid: number;
  readonly dead: boolean;
}

/** What was found of one agent besides its pane. What could not be found out is absent, and nothing follows from it. */
export interface SeenAgent {
  /** What living processes work on, as Claude's live-session files say. `own`: the agent's process or one below it. */
  readonly sessions?: readonly { readonly pid: number; readonly sessionId: string; readonly of: 'own' | 'other' }[];
  readonly transcript?: 'there' | 'missing';
}

type Difference = Omit<Extract<FleetEvent, { kind: 'difference found' }>, 'at'>;
type Shared = Omit<Extract<FleetEvent, { kind: 'conversation shared' }>, 'at'>;

/**
 * Where the record and what is there differ, apart from a process that is gone, which the observer tells as its end. Each
 * is told; none is acted on here.
 */
export function differencesOf(
  state: FleetState,
  panes: readonly SeenPane[],
  seen: ReadonlyMap<string, SeenAgent>,
): readonly (Difference | Shared)[] {
  return [
    ...panes.flatMap((pane) => differenceOfPane(state, pane)),
    ...Object.values(state.agents).flatMap((agent) => {
      const found = seen.get(agent.name);
      return found === undefined ? [] : differencesOfAgent(agent, found);
    }),
  ];
}

function differenceOfPane(
  state: FleetState,
  { sessionName: name, launchId, pid, dead }: SeenPane,
): readonly Difference[] {
  if (launchId === '' || dead || !agentNamePattern.test(name)) return [];
  const agent = agentOf(state, name);
  if (agent !== undefined && liveLaunchIds(agent).includes(launchId)) return [];
  const process = `Process ${pid} in the tmux session ${name} belongs to launch ${launchId}`;
  if (agent === undefined) {
    const detail = `${process}, and no agent of that name is on record. It goes on; Adopt Session makes it an agent again.`;
    return [difference(name, 'pane without record', detail)];
  }
  const known = knownLaunchIds(agent).includes(launchId) ? 'which is over' : 'which is not on record';
  return [difference(name, 'pane of another launch', `${process}, ${known}.`)];
}

function differencesOfAgent(agent: Agent, { sessions = [], transcript }: SeenAgent): readonly (Difference | Shared)[] {
  const { name, session, lineage } = agent;
  if (session === undefined) return [];
  const found: (Difference | Shared)[] = [];
  if (transcript === 'missing' && session.prompted && session.unsaved === undefined) {
    const detail = `Conversation ${session.id} took prompts, and its transcript is not there (${session.transcriptPath ?? ''}).`;
    found.push(difference(name, 'transcript missing', `${detail} It cannot be resumed.`));
  }
  const running = runningLaunch(agent);
  if (running?.confirmedAt === undefined) return found;
  const known = [session, ...lineage].map(({ id }) => id);
  const strange = sessions.find(({ of, sessionId }) => of === 'own' && !known.includes(sessionId));
  if (strange !== undefined) {
    const detail =
      `Claude's live-session file of process ${strange.pid} names conversation ${strange.sessionId}; its hooks told of ` +
      `${session.id}. What the hooks tell counts.`;
    found.push(difference(name, 'other conversation', detail));
  }
  const other = sessions.find(({ of, sessionId }) => of === 'other' && sessionId === session.id);
  if (other !== undefined && running.shared === undefined) {
    found.push({ kind: 'conversation shared', name, launchId: running.launch.id, pid: other.pid });
  }
  return found;
}

function difference(name: string, what: Difference['what'], detail: string): Difference {
  return { kind: 'difference found', name, what, detail };
}
