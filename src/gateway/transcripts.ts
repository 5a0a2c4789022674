import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isSessionId } from '../core/claude/launchArguments.ts';
import { type Conversation, conversationsOf, projectFolderName, readTranscript } from '../core/claude/transcript.ts';
import type { Agent, SessionRecord } from '../core/fleet/agent.ts';
import type { FleetState } from '../core/fleet/state.ts';
import { claudeDirectory } from '../node/claudeDirectory.ts';
import { agentEnvironment, type Environment } from '../node/environment.ts';
import { readPart } from '../node/files.ts';
import type { ConversationRow } from '../protocol/conversations.ts';

/** Of the files of a directory, so many of the latest are opened. */
const filesAtMost = 200;
/** Bytes from the beginning of a transcript in which its directory and first prompt stand; more where they do not. */
const headBytes = [64 * 1024, 4 * 1024 * 1024] as const;
const promptCharacters = 120;

interface Transcript extends Conversation {
  readonly path: string;
  readonly bytes: number;
  readonly firstPrompt?: string;
}

/**
 * The conversations that an agent could go on with: its own, and all that began in its directory. `environment` is that of
 * this process, for finding Claude's files where no hook has told a path yet. Files that cannot be read are left out.
 */
export async function conversationsFor(
  fleet: FleetState,
  agent: Agent,
  environment: Environment,
): Promise<ConversationRow[]> {
  const own = [...agent.lineage, ...(agent.session === undefined ? [] : [agent.session])];
  const listed = await Promise.all(foldersOf(fleet, agent, own, environment).map(listFolder));
  const recorded = own.flatMap(({ transcriptPath }) => transcriptPath ?? []);
  const latest = [...new Set([...listed.flat(), ...recorded])];
  const files = (await Promise.all(latest.map(lookAt))).flatMap((file) => file ?? []);
  files.sort((a, b) => b.modifiedAt - a.modifiedAt);
  const read = await Promise.all(files.slice(0, filesAtMost).map(readHead));
  const transcripts = new Map(read.flatMap((one) => (one === undefined ? [] : [[one.sessionId, one] as const])));
  const rows = new Map<string, ConversationRow>();
  for (const transcript of conversationsOf(agent.configuration.directory, [...transcripts.values()])) {
    rows.set(transcript.sessionId, { ...rowOf(transcript), relation: 'other' });
  }
  for (const session of own) {
    const transcript = transcripts.get(session.id);
    rows.set(session.id, {
      sessionId: session.id,
      at: session.since,
      ...(transcript !== undefined && rowOf(transcript)),
      relation: session.id === agent.session?.id ? 'current' : 'former',
      cause: session.cause,
    });
  }
  const isCurrent = ({ relation }: ConversationRow): number => (relation === 'current' ? 1 : 0);
  return [...rows.values()].sort((a, b) => isCurrent(b) - isCurrent(a) || b.at - a.at);
}

/** A conversation's own folder is the surest; the other follows from where Claude would be started. */
function foldersOf(
  { settings }: FleetState,
  { configuration }: Agent,
  own: readonly SessionRecord[],
  environment: Environment,
): readonly string[] {
  const claude = claudeDirectory(agentEnvironment(environment, settings, configuration));
  const expected = claude === undefined ? [] : [join(claude, 'projects', projectFolderName(configuration.directory))];
  return [...new Set([...own.flatMap(({ transcriptPath }) => dirname(transcriptPath ?? '')), ...expected])].filter(
    (folder) => folder !== '.',
  );
}

/** Transcripts are named by their session; what else lies there is no conversation. */
async function listFolder(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => isSessionId(basename(name, '.jsonl'))).map((name) => join(folder, name));
}

interface TranscriptFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

async function lookAt(path: string): Promise<TranscriptFile | undefined> {
  try {
    const status = await stat(path);
    return status.isFile() ? { path, bytes: status.size, modifiedAt: Math.round(status.mtimeMs) } : undefined;
  } catch {
    return undefined;
  }
}

async function readHead(file: TranscriptFile): Promise<Transcript | undefined> {
  let transcript: Transcript | undefined;
  for (const bytes of headBytes) {
    const text = await readPart(file.path, 0, bytes).catch(() => undefined);
    if (text === undefined) return undefined;
    const { facts } = readTranscript(text);
    const said = facts
      .find(({ kind }) => kind === 'prompt')
      ?.text?.replace(/\s+/g, ' ')
      .trim();
    transcript = {
      ...file,
      sessionId: basename(file.path, '.jsonl'),
      directories: facts.flatMap(({ directory }) => directory ?? []),
      ...(said !== undefined && { firstPrompt: said.slice(0, promptCharacters) }),
    };
    if (said !== undefined || file.bytes <= bytes) break;
  }
  return transcript;
}

function rowOf({ sessionId, modifiedAt, path, bytes, firstPrompt }: Transcript): Omit<ConversationRow, 'relation'> {
  return {
    sessionId,
    at: modifiedAt,
    transcript: { path, bytes },
    ...(firstPrompt !== undefined && { firstPrompt }),
  };
}
