import type { HookFact } from '../claude/facts.ts';
import { type OwnServer, throughBowline } from '../mcp/ownServer.ts';
import type { AgentConfiguration } from './configuration.ts';
import type { BindingRecord } from '../binding/bindingRecord.ts';
import type { EndedLaunch, EndReason, Launch, LaunchMode, Life, RunningLaunch } from './life.ts';
import type { Incident } from '../healing/incident.ts';

/** A durable identity. */
export interface Agent {
  readonly name: string;
  readonly configuration: AgentConfiguration;
  readonly createdAt: number;
  readonly life: Life;
  readonly activity: Activity;
  /** The current conversation; absent until a hook told it. */
  readonly session?: SessionRecord;
  /** Former conversations, newest last, bounded. */
  readonly lineage: readonly SessionRecord[];
  /** The process that has its conversation, and was asked to end for its first launch; absent: none. */
  readonly adoption?: Adoption;
  /** Ids of the hook reports that were folded in, newest last, bounded; absent: none yet. */
  readonly hookReports?: readonly string[];
  /** Reports that came before the conversation that their launch is to bring back, bounded; absent: none wait. */
  readonly earlyHooks?: readonly EarlyHook[];
  /** Ended launches, newest last, bounded. */
  readonly launches: readonly EndedLaunch[];
  /** Launches requested so far; makes launch ids unique. */
  readonly launchCount: number;
  /** MCP servers of the person's files; absent: they were not read since it was last launched by an older Bowline. */
  readonly ownServers?: readonly OwnServer[];
  /** Raw observations per endpoint; health is derived from them. */
  readonly bindings: Readonly<Record<string, BindingRecord>>;
  /** Open incidents per endpoint: unbound since, and what was tried. */
  readonly incidents: Readonly<Record<string, Incident>>;
  readonly savedContext?: SavedContext;
  /** Prompts sent through Bowline, oldest first, settled ones bounded; absent: none yet. Their texts are in files only. */
  readonly prompts?: readonly PromptRecord[];
  /** The last `ask the agent to save, then restart`; absent: it was never asked for. */
  readonly saveRestart?: SaveRestart;
  /** Absent: its process has the configuration that the agent has, or none runs. */
  readonly relaunch?: Relaunch;
}

/** A claude that Bowline did not start, and whose conversation the agent is to go on with. */
export interface Adoption {
  readonly pid: number;
  /** With the pid it names one process, see `ProcessIdentity`. */
  readonly startTime: string;
  /** The window or script that asked. */
  readonly by: string;
}

/** What a hook told before it was known whether that belongs to the agent's conversation. */
export interface EarlyHook {
  readonly at: number;
  readonly launchId: string;
  readonly hook: HookFact;
}

export type ActivityKind = 'idle' | 'busy' | 'waiting for permission' | 'waiting for input' | 'unknown';

export interface Activity {
  readonly kind: ActivityKind;
  readonly since: number;
  readonly source: 'none' | 'hook' | 'live-session file';
  /** The last sign of work (prompt, end of a turn, tool call) in this conversation. */
  readonly lastWorkAt?: number;
}

/** One conversation of Claude. */
export interface SessionRecord {
  readonly id: string;
  readonly launchId: string;
  /** How it became current: `startup`, `resume`, `clear`, `compact`, `fork` or another word of the hook; also `adopted`. */
  readonly cause: string;
  readonly since: number;
  /** Time of the report that made it current; older reports never change it. */
  readonly reportedAt: number;
  readonly transcriptPath?: string;
  /** Whether a prompt was ever taken: without one there is no transcript, and nothing to resume. */
  readonly prompted: boolean;
  /** Turns that ended in this conversation while Bowline watched. */
  readonly turnsCompleted: number;
  /** Nothing goes back to it by itself; a person may choose it. */
  readonly givenUp?: { readonly at: number; readonly why: 'fresh restart' | 'resume failed' };
  /** The last turns failed by this error, which comes back on each of them, so many in a row; absent: none did. */
  readonly apiErrors?: { readonly kind: string; readonly inARow: number; readonly at: number };
  /** When a turn last succeeded, or a person chose to keep trying: what failed before does not count. */
  readonly clearedAt?: number;
  /** It took a prompt, and its transcript was not seen since; `missingAt`: it was looked for in vain. Absent: it is there. */
  readonly unsaved?: { readonly since: number; readonly path: string; readonly missingAt?: number };
  /** Every turn fails: the conversation is kept, and no launch resumes it. */
  readonly quarantine?: { readonly at: number; readonly error: string };
}

export interface SavedContext {
  readonly at: number;
  readonly sessionId?: string;
  readonly launchId: string;
  /** `explicit`: the agent called save_my_context. `carried`: handed over from an older conversation. */
  readonly origin: 'explicit' | 'carried';
  readonly bytes: number;
}

/** A prompt and what became of it. Holds nothing of its text. */
export interface PromptRecord {
  /** Chosen by the sender: asked for twice under one id, a prompt is sent once. */
  readonly id: string;
  readonly requestedAt: number;
  /** The window or script that sent it. */
  readonly by: string;
  /** Digest of the text under the agent's key; the hook that tells of its receipt names the same one. */
  readonly digest: string;
  readonly characters: number;
  readonly state: PromptState;
}

export type PromptState =
  /** `waitsFor`: what the hands saw in the way; what the brain sees in the way is derived, see `promptWaitsFor`. */
  | { readonly kind: 'queued'; readonly waitsFor?: string }
  /** The hands have taken it for this launch: it cannot be called off any more. */
  | { readonly kind: 'typing'; readonly launchId: string; readonly since: number }
  | { readonly kind: 'typed'; readonly launchId: string; readonly since: number; readonly at: number }
  /** The hook of that launch told it, or the transcript did. */
  | { readonly kind: 'received'; readonly launchId: string; readonly at: number }
  /** It may have been typed, and no receipt came. It is never typed again; a late receipt still counts. */
  | {
      readonly kind: 'unknown';
      readonly launchId: string;
      readonly since: number;
      readonly at: number;
      readonly detail: string;
    }
  /** Nothing was typed. */
  | { readonly kind: 'failed'; readonly at: number; readonly detail: string };

/** A restart that waits until the agent has saved its context, because a prompt asks for it. */
export interface SaveRestart {
  readonly promptId: string;
  readonly mode: LaunchMode;
  readonly requestedAt: number;
  /** Absent: it is under way. */
  readonly ended?: {
    readonly at: number;
    readonly outcome: 'restarted' | 'not restarted';
    readonly detail: string;
  };
}

/** A process that runs with another configuration than the agent has by now. */
export interface Relaunch {
  /** The last change. */
  readonly since: number;
  /** What the process was launched with, with the fleet's variables. */
  readonly from: AgentConfiguration;
  /** What differs, in words. */
  readonly changed: readonly string[];
  /** `idle`: relaunched by itself, with its conversation. `asked`: when a person restarts it. */
  readonly when: 'idle' | 'asked';
}

/** The launch whose process runs now. */
export function runningLaunch(agent: Agent): RunningLaunch | undefined {
  return agent.life.kind === 'running' ? agent.life.running : undefined;
}

/** The launch that reports and requests are counted for. */
export function currentLaunch(agent: Agent): Launch | undefined {
  switch (agent.life.kind) {
    case 'launching':
    case 'stopping':
      return agent.life.launch;
    case 'running':
      return agent.life.running.launch;
    case 'stopped':
    case 'sleeping':
    case 'blocked':
    case 'dead':
      return undefined;
  }
}

/** The launches whose process may be alive: the current one, and the former until it is ended for it. */
export function liveLaunches(agent: Agent): readonly Launch[] {
  const { life } = agent;
  const ending = life.kind === 'launching' || life.kind === 'stopping' ? life.ending?.launch : undefined;
  return [currentLaunch(agent), ending].filter((launch) => launch !== undefined);
}

export function liveLaunchIds(agent: Agent): readonly string[] {
  return liveLaunches(agent).map(({ id }) => id);
}

/** Ids of the launches that are on record: those whose process may be alive, and the last ones that ended. */
export function knownLaunchIds(agent: Agent): readonly string[] {
  return [...liveLaunchIds(agent), ...agent.launches.map(({ launch }) => launch.id)];
}

const endedByBowline: readonly EndReason[] = ['idle', 'replaced', 'released', 'shutdown'];

/**
 * Whether this launch is over because somebody wanted it so: what may still live of it is wanted by nobody. One that was
 * only found to have ended may live all the same, with work in it.
 */
export function isUnwanted(agent: Agent, launchId: string): boolean {
  if (liveLaunchIds(agent).includes(launchId)) return false;
  return agent.launches.some(({ launch, reason }) => launch.id === launchId && endedByBowline.includes(reason));
}

/** Names of the endpoints that the next launch of this agent is given. */
export function configuredServers(agent: Agent): readonly string[] {
  const { ownServers } = agent;
  const builtIns = configuredBuiltIns(agent);
  return ownServers === undefined || ownServers.length === 0 ? builtIns : [...builtIns, ...throughBowline(ownServers)];
}

/** Those of them that are Bowline's own. */
export function configuredBuiltIns({ configuration }: Agent): readonly string[] {
  return Object.entries(configuration.servers)
    .filter(([, state]) => state === 'on')
    .map(([name]) => name);
}

/** Names of the endpoints that this agent has and is to keep. */
export function enabledServers(agent: Agent): readonly string[] {
  const launchedWith = formerServers(agent);
  const configured = configuredServers(agent);
  return launchedWith === undefined ? configured : configured.filter((name) => launchedWith[name] === 'on');
}

/** Whether a process of this agent may ask for the endpoint: it was launched with it, or is to have it. */
export function mayUseServer(agent: Agent, server: string): boolean {
  return configuredServers(agent).includes(server) || formerServers(agent)?.[server] === 'on';
}

/** What the process was launched with, where its configuration was changed since. */
function formerServers(agent: Agent): AgentConfiguration['servers'] | undefined {
  const { relaunch } = agent;
  const launch = currentLaunch(agent);
  return relaunch !== undefined && launch !== undefined && launch.requestedAt < relaunch.since
    ? relaunch.from.servers
    : undefined;
}
