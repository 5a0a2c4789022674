import { dirname, join } from 'node:path';
import { projectFolderName } from '../core/claude/transcript.ts';
import type { Agent, SessionRecord } from '../core/fleet/agent.ts';
import { objectionTo } from '../core/fleet/findConversation.ts';
import { runningLaunch } from '../core/fleet/agent.ts';
import type { FleetState } from '../core/fleet/state.ts';
import { claudeDirectory } from '../node/claudeDirectory.ts';
import { agentEnvironment, type Environment } from '../node/environment.ts';
import { liveClaims } from '../node/hands/conversationUse.ts';
import { liveSessionDirectory } from '../node/hands/liveSessions.ts';
import { isWithin } from '../node/processIdentity.ts';
import { type FoundTranscript, searchTranscripts, type TranscriptSearch } from '../node/transcriptFiles.ts';
import type { ConversationRow } from '../protocol/conversations.ts';

/** So many of the latest of a directory are listed. */
const listedAtMost = 200;

/** What Claude's files tell of an agent's directory. */
export interface Look extends TranscriptSearch {
  /** The folder in which Claude keeps new conversations of the directory; undefined: the environment does not tell. */
  readonly folder?: string;
  /** The processes that work on conversations now, by session. */
  readonly users: ReadonlyMap<string, number>;
  /** Of the agent's own process; absent: none runs, or it does not tell. */
  readonly ownSession?: string;
}

/**
 * Looks through Claude's files, for all conversations of the agent's directory and its own ones, or for `only` that one.
 * `environment` is that of this process, for finding them. Never rejects.
 */
export async function lookThrough(
  fleet: FleetState,
  agent: Agent,
  environment: Environment,
  only?: string,
): Promise<Look> {
  const { configuration } = agent;
  const own = recordsOf(agent);
  const variables = agentEnvironment(environment, fleet.settings, configuration);
  const claude = claudeDirectory(variables);
  const folder =
    claude === undefined ? undefined : join(claude, 'projects', projectFolderName(configuration.directory));
  const recorded = own.flatMap(({ transcriptPath }) => transcriptPath ?? []);
  // A conversation's own folder is the surest; the other follows from where Claude would be started.
  const folders = [...new Set([...recorded.map((path) => dirname(path)), ...(folder === undefined ? [] : [folder])])];
  const places =
    only === undefined
      ? { folders, paths: recorded }
      : { folders: [], paths: folders.map((one) => join(one, `${only}.jsonl`)) };
  const live = liveSessionDirectory(variables);
  const [search, claims] = await Promise.all([
    searchTranscripts(configuration.directory, places),
    live === undefined ? [] : liveClaims(live),
  ]);
  const process = runningLaunch(agent)?.process.pid;
  const isOwn = await Promise.all(
    claims.map(async ({ pid }) => process !== undefined && (await isWithin(pid, process))),
  );
  const ownSession = claims.find((_claim, index) => isOwn[index])?.sessionId;
  return {
    ...search,
    ...(folder !== undefined && { folder }),
    users: new Map(claims.map(({ sessionId, pid }) => [sessionId, pid])),
    ...(ownSession !== undefined && { ownSession }),
  };
}

/** The conversations that an agent could go on with: its own, and the latest that began in its directory. */
export async function conversationsFor(
  fleet: FleetState,
  agent: Agent,
  environment: Environment,
): Promise<ConversationRow[]> {
  const { found, users } = await lookThrough(fleet, agent, environment);
  const transcripts = new Map(found.map((one) => [one.sessionId, one]));
  const rows = new Map<string, ConversationRow>();
  for (const transcript of found.slice(0, listedAtMost)) {
    const objection = objectionTo(fleet, agent, transcript, users);
    const more = objection === undefined ? {} : { objection };
    rows.set(transcript.sessionId, { ...rowOf(transcript), relation: 'other', ...more });
  }
  for (const session of recordsOf(agent)) {
    const transcript = transcripts.get(session.id);
    const objection = transcript === undefined ? undefined : objectionTo(fleet, agent, transcript, users);
    rows.set(session.id, {
      sessionId: session.id,
      at: session.since,
      ...(transcript !== undefined && rowOf(transcript)),
      relation: session.id === agent.session?.id ? 'current' : 'former',
      cause: session.cause,
      ...(objection !== undefined && { objection }),
    });
  }
  const isCurrent = ({ relation }: ConversationRow): number => (relation === 'current' ? 1 : 0);
  return [...rows.values()].sort((a, b) => isCurrent(b) - isCurrent(a) || b.at - a.at);
}

function recordsOf({ lineage, session }: Agent): readonly SessionRecord[] {
  return [...lineage, ...(session === undefined ? [] : [session])];
}

function rowOf({
  sessionId,
  modifiedAt,
  path,
  bytes,
  firstPrompt,
}: FoundTranscript): Omit<ConversationRow, 'relation'> {
  return {
    sessionId,
    at: modifiedAt,
    transcript: { path, bytes },
    ...(firstPrompt !== undefined && { firstPrompt }),
  };
}
