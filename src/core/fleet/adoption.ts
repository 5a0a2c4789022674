import type { SessionClaim } from '../claude/liveSession.ts';
import { isSessionId } from '../claude/launchArguments.ts';
import { shellLine } from '../claude/shellLine.ts';
import { liveLaunchIds } from './agent.ts';
import { readAgentName } from './names.ts';
import type { FleetState } from './state.ts';

/** A claude that runs on this machine, as its live-session file and the system tell of it. */
export interface SeenClaude extends SessionClaim {
  /** See `ProcessIdentity`; absent: it cannot be proven that the process is the one that the file was written for. */
  readonly startTime?: string;
  /** What it was started in; absent: it cannot be read. */
  readonly surroundings?: Surroundings;
  /** The agent whose process it is, or below whose process it was started; absent: none. */
  readonly within?: string;
  /** What stands where `--resume` would look for its conversation; absent: no transcript of its directory. */
  readonly transcript?: { readonly path: string; readonly saysSomething: 'yes' | 'no'; readonly firstPrompt?: string };
}

/** Where a process was started, from its first environment. */
export interface Surroundings {
  /** Path of the tmux socket; absent: outside of tmux. */
  readonly tmuxSocket?: string;
  /** The variables that Bowline gives an agent; inherited by what the agent starts. */
  readonly agent?: string;
  readonly launchId?: string;
}

/** Bowline's own are no foreign ones. `refused`: why it cannot be adopted, and the next step. */
export type Adoptability =
  { readonly kind: 'own' } | { readonly kind: 'adoptable' } | { readonly kind: 'refused'; readonly why: string };

/** What a verdict is about. */
export interface AdoptionCase {
  readonly process: SeenClaude;
  /** All that were seen, this one among them. */
  readonly all: readonly SeenClaude[];
  /** Path of this fleet's tmux socket. */
  readonly fleetSocket: string;
}

/** Whether a claude can become an agent: one that a person started, that is idle, and whose conversation is nobody's. */
export function adoptabilityOf(fleet: FleetState, { process, all, fleetSocket }: AdoptionCase): Adoptability {
  if (isOwn(fleet, process)) return { kind: 'own' };
  const why =
    strangeness(process) ??
    otherOwner(fleet, process, fleetSocket) ??
    otherUser(process, all) ??
    missingConversation(process) ??
    notIdle(process);
  return why === undefined ? { kind: 'adoptable' } : { kind: 'refused', why };
}

function isOwn({ agents }: FleetState, { within, surroundings }: SeenClaude): boolean {
  if (within !== undefined) return true;
  const { launchId } = surroundings ?? {};
  // Its start may not have been told yet.
  return launchId !== undefined && Object.values(agents).some((agent) => liveLaunchIds(agent).includes(launchId));
}

function strangeness(process: SeenClaude): string | undefined {
  const { pid, kind, entrypoint, sessionId, startTime, surroundings, directory } = process;
  if (kind !== 'interactive') {
    return `It is no interactive session (${kind ?? 'it does not tell what it is'}). Let it end by itself.`;
  }
  if (!isSessionId(sessionId) || directory === undefined) {
    return 'It does not tell its conversation in a known form. Update Claude Code, or create an agent with New Agent.';
  }
  const byHand = `go on by hand: ${resumeByHand(directory, sessionId)}`;
  if (entrypoint !== undefined && entrypoint !== 'cli') {
    return `Another program drives it (${entrypoint}). End it there and ${byHand}`;
  }
  if (startTime === undefined || surroundings === undefined) {
    const what = startTime === undefined ? `that process ${pid} is still this claude` : 'whose it is';
    return `It cannot be proven ${what}. End it in its terminal and ${byHand}`;
  }
  return undefined;
}

/** Everything that Bowline starts lives in the tmux server of its fleet, and carries its launch. */
function otherOwner({ agents }: FleetState, process: SeenClaude, fleetSocket: string): string | undefined {
  const { tmuxSocket, agent: name, launchId } = process.surroundings ?? {};
  const isBowline = (launchId ?? '') !== '' || tmuxSocket?.endsWith('/fleet.sock') === true;
  if (isBowline && tmuxSocket !== fleetSocket) {
    const of = name === undefined ? '' : ` (agent ${name})`;
    return `It belongs to another Bowline fleet${of}, with the tmux socket ${tmuxSocket ?? '(none)'}. Work with it there.`;
  }
  const { sessionId } = process;
  for (const agent of Object.values(agents)) {
    const records = [agent.session, ...agent.lineage].filter((record) => record !== undefined);
    if (!records.some(({ id }) => id === sessionId)) continue;
    return `Its conversation is one of the agent ${agent.name}. End it in its terminal, then use Resume on ${agent.name}.`;
  }
  return undefined;
}

function otherUser({ pid, sessionId }: SeenClaude, all: readonly SeenClaude[]): string | undefined {
  const other = all.find((one) => one.pid !== pid && one.sessionId === sessionId);
  if (other === undefined) return undefined;
  return `Process ${other.pid} works on the same conversation. End one of the two in its terminal.`;
}

function missingConversation({ transcript, directory }: SeenClaude): string | undefined {
  if (transcript?.saysSomething === 'yes') return undefined;
  if (transcript !== undefined) return 'Nothing was said in it yet. Create an agent with New Agent instead.';
  return `Claude keeps no transcript of it for ${directory ?? 'its directory'}, so that nothing could be resumed. Say something in it first.`;
}

function notIdle({ status, waitingFor }: SeenClaude): string | undefined {
  if (status === undefined) {
    return 'It does not tell whether it is idle. Wait a moment; if it stays so, end it in its terminal.';
  }
  switch (status) {
    case 'idle':
      return undefined;
    case 'busy':
      return 'It works on a turn. Wait until that has ended.';
    case 'waiting':
      return `It waits for an answer (${waitingFor ?? 'it does not tell which'}). Give it in its terminal.`;
  }
}

/** The line with which a person goes on with a conversation in a terminal. */
export function resumeByHand(directory: string, sessionId: string): string {
  return `cd ${/^[\w/.-]+$/.test(directory) ? directory : shellLine([directory])} && claude --resume ${sessionId}`;
}

/**
 * The name that an agent must have to take over the terminal of a lost launch, which stays in Bowline's tmux server under
 * its former name; undefined: any will do.
 */
export function nameToKeep(
  { agents }: FleetState,
  { surroundings }: Pick<SeenClaude, 'surroundings'>,
  fleetSocket: string,
): string | undefined {
  const { tmuxSocket, agent: name, launchId } = surroundings ?? {};
  if (tmuxSocket !== fleetSocket || launchId === undefined || name === undefined) return undefined;
  return readAgentName(name).ok && !Object.hasOwn(agents, name) ? name : undefined;
}

/** A valid name that is free, made of the directory's. */
export function proposedName({ agents }: Pick<FleetState, 'agents'>, directory: string): string {
  const last = directory.split('/').findLast((part) => part !== '') ?? '';
  const folded = last
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, 32);
  const base = readAgentName(folded).ok ? folded : 'agent';
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? '' : `-${count}`;
    const name = `${base.slice(0, 32 - suffix.length)}${suffix}`;
    if (!Object.hasOwn(agents, name)) return name;
  }
}
