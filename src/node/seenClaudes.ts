import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionClaim } from '../core/claude/liveSession.ts';
import { projectFolderName } from '../core/claude/transcript.ts';
import type { SeenClaude, Surroundings } from '../core/fleet/adoption.ts';
import { liveClaims, livingProcess } from './hands/conversationUse.ts';
import { isWithin } from './processIdentity.ts';
import { searchTranscripts } from './transcriptFiles.ts';

/**
 * The claudes that live now and keep their files in `claudeDirectory`. `agents`: the processes of agents, by name. Only
 * reads; never rejects.
 */
export async function seenClaudes(
  claudeDirectory: string,
  agents: readonly { readonly name: string; readonly pid: number }[],
): Promise<readonly SeenClaude[]> {
  const claims = await liveClaims(join(claudeDirectory, 'sessions'));
  const seen = await Promise.all(claims.map((claim) => see(claim, claudeDirectory, agents)));
  return seen.filter((one) => one !== undefined);
}

async function see(
  claim: SessionClaim,
  claudeDirectory: string,
  agents: readonly { readonly name: string; readonly pid: number }[],
): Promise<SeenClaude | undefined> {
  const { pid } = claim;
  const [surroundings, transcript, isOf] = await Promise.all([
    surroundingsOf(pid),
    transcriptOf(claim, claudeDirectory),
    Promise.all(agents.map((agent) => isWithin(pid, agent.pid))),
  ]);
  // Last, so that all that was read is of this process.
  const identity = await livingProcess(claim);
  if (identity === 'gone') return undefined;
  const within = agents.find((_agent, index) => isOf[index])?.name;
  return {
    ...claim,
    ...(identity !== 'unproven' && { startTime: identity.startTime }),
    ...(surroundings !== undefined && { surroundings }),
    ...(within !== undefined && { within }),
    ...(transcript !== undefined && { transcript }),
  };
}

/** From the environment that it was started with (Linux); nothing else of that is kept, for it holds secrets. */
async function surroundingsOf(pid: number): Promise<Surroundings | undefined> {
  let variables: readonly string[];
  try {
    variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');
  } catch {
    return undefined;
  }
  if (variables.length < 2) return undefined;
  const valueOf = (name: string): string | undefined =>
    variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1) || undefined;
  const tmuxSocket = valueOf('TMUX')?.replace(/,\d+,\d+$/, '');
  const agent = valueOf('BOWLINE_AGENT');
  const launchId = valueOf('BOWLINE_LAUNCH');
  return {
    ...(tmuxSocket !== undefined && { tmuxSocket }),
    ...(agent !== undefined && { agent }),
    ...(launchId !== undefined && { launchId }),
  };
}

/** `--resume` looks in the folder of the directory that it is started in. */
async function transcriptOf(
  { directory, sessionId }: SessionClaim,
  claudeDirectory: string,
): Promise<SeenClaude['transcript']> {
  if (directory === undefined) return undefined;
  try {
    const real = await realpath(directory);
    const path = join(claudeDirectory, 'projects', projectFolderName(real), `${sessionId}.jsonl`);
    const [found] = (await searchTranscripts(real, { folders: [], paths: [path] })).found;
    if (found?.directory !== real) return undefined;
    const { firstPrompt, isReadWhole } = found;
    const saysSomething = firstPrompt !== undefined || !isReadWhole ? 'yes' : 'no';
    return { path, saysSomething, ...(firstPrompt !== undefined && { firstPrompt }) };
  } catch {
    return undefined; // its directory is gone
  }
}
