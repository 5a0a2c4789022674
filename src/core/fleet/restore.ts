import { type Agent, currentLaunch } from './agent.ts';
import { searchFor } from './findConversation.ts';
import type { EndedLaunch } from './life.ts';
import { poisonSentence } from './poison.ts';
import { agentOf, type FleetState, type Restoration } from './state.ts';

/** How often one restoration starts the same agent, where the tmux server ends again and again. */
const startsAtMost = 3;

/** What a restore does for an agent. */
export type RestoreVerdict =
  | { readonly kind: 'resume'; readonly sessionId: string }
  /** Nothing was said in its conversation, or it was given up: there is nothing to bring back. */
  | { readonly kind: 'fresh' }
  /** In words, with the next step. */
  | { readonly kind: 'blocked'; readonly why: string };

/** Whether a restore starts an agent of which it says this; `ambiguous`: a person is to choose its conversation. */
export function isRestorable({ kind }: { readonly kind: RestoreVerdict['kind'] | 'ambiguous' }): boolean {
  return kind === 'resume' || kind === 'fresh';
}

/** Said where no agent is lost. */
export const nothingLost = 'No agent ended with the tmux server or the machine: there is nothing to restore.';

/** How far a restoration is. Who is in neither list is up, needs a person, or is somebody else's by now. */
export interface RestoreProgress {
  readonly waiting: readonly string[];
  /** Started, and not verified yet. */
  readonly underWay: readonly string[];
}

/** The agents that ended with the tmux server or the machine, and were not up since. */
export function lostAgents(state: FleetState): readonly Agent[] {
  return Object.values(state.agents).filter((agent) => isLost(state, agent));
}

/** The restoration that is under way. */
export function openRestoration({ restoration }: FleetState): Restoration | undefined {
  return restoration?.ended === undefined ? restoration : undefined;
}

/** Whether, and how, this agent can be brought back by its exact conversation. */
export function restoreVerdict(agent: Agent): RestoreVerdict {
  const { session } = agent;
  if (searchFor(agent).kind === 'any') {
    const why =
      'its record names no conversation, and nothing is resumed without an exact id. Resume begins anew, Resume Other ' +
      'Conversation shows what is there.';
    return { kind: 'blocked', why };
  }
  if (session?.prompted !== true || session.givenUp !== undefined) return { kind: 'fresh' };
  const poison = poisonSentence(agent);
  if (poison !== undefined) return { kind: 'blocked', why: poison };
  if (session.unsaved?.missingAt !== undefined) {
    const why = `Claude wrote no transcript of its conversation (${session.unsaved.path}). Force Fresh Restart begins anew.`;
    return { kind: 'blocked', why };
  }
  return { kind: 'resume', sessionId: session.id };
}

/** How far this restoration is. */
export function restoreProgress(state: FleetState, restoration: Restoration): RestoreProgress {
  const of = (wanted: Fate): readonly string[] => {
    return restoration.agents.filter((name) => fateOf(state, restoration, name) === wanted);
  };
  return { waiting: of('waiting'), underWay: of('under way') };
}

type Fate = 'waiting' | 'under way' | 'settled';

function fateOf(state: FleetState, restoration: Restoration, name: string): Fate {
  const agent = agentOf(state, name);
  if (agent === undefined) return 'settled';
  if (currentLaunch(agent) !== undefined) return isComingUp(agent, restoration) ? 'under way' : 'settled';
  const starts = agent.launches.filter(({ launch }) => launch.restoration === restoration.id).length;
  const isWaiting = isLost(state, agent) && starts < startsAtMost && isRestorable(restoreVerdict(agent));
  return isWaiting ? 'waiting' : 'settled';
}

/** A launch of this restoration that is neither up nor in the hands of a person or of healing. */
function isComingUp(agent: Agent, { id }: Restoration): boolean {
  const { life, incidents } = agent;
  if (life.kind === 'launching') return life.launch.restoration === id;
  if (life.kind !== 'running' || life.running.launch.restoration !== id) return false;
  const { verifiedAt, unverified, dialog } = life.running;
  const isAtDialog = dialog !== undefined && dialog !== 'permission';
  const needsPerson = unverified !== undefined || isAtDialog || poisonSentence(agent) !== undefined;
  return verifiedAt === undefined && !needsPerson && Object.keys(incidents).length === 0;
}

function isLost({ restoration }: FleetState, agent: Agent): boolean {
  const last = agent.launches.at(-1);
  if (currentLaunch(agent) !== undefined || last === undefined) return false;
  return last.reason === 'host gone' || wasCalledOff(restoration, agent.name, last);
}

/** The stop of a launch that was to bring the agent back does not say that nobody wants it back any more. */
function wasCalledOff(restoration: Restoration | undefined, name: string, { launch, reason }: EndedLaunch): boolean {
  if (restoration === undefined || launch.restoration === undefined) return false;
  if (reason !== 'released' && reason !== 'shutdown') return false;
  if (restoration.ended !== undefined) return restoration.ended.left.includes(name);
  return restoration.agents.includes(name) && launch.restoration !== restoration.id;
}
