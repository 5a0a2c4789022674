import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { delay } from '../../base/async.ts';
import { BowlineError } from '../../base/errors.ts';
import { readSessionClaim, type SessionClaim } from '../../core/claude/liveSession.ts';
import { type Agent, currentLaunch } from '../../core/fleet/agent.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import { isWithin, type ProcessIdentity, processIdentity } from '../processIdentity.ts';
import { liveSessionDirectory } from './liveSessions.ts';

/** In milliseconds. */
const lookEvery = 100;

/**
 * Rejects with `conversation-in-use` when the conversation that the agent's launch is to resume is used by a process
 * besides the one in `former`, and still is after `othersEndWithin` milliseconds: nothing in Claude stops two of them.
 * Rejects at once when aborted.
 */
export async function refuseInUse(
  agent: Agent | undefined,
  environment: Readonly<Record<string, string>>,
  former: Pick<PaneInfo, 'dead' | 'pid'> | undefined,
  othersEndWithin: number,
  signal: AbortSignal,
): Promise<void> {
  const sessionId = agent === undefined ? undefined : currentLaunch(agent)?.expectedSessionId;
  const directory = liveSessionDirectory(environment);
  if (agent === undefined || sessionId === undefined || directory === undefined) return;
  const own = former?.dead === false ? former.pid : undefined;
  const until = performance.now() + othersEndWithin;
  let pid = await otherUserOf(directory, sessionId, own);
  while (pid !== undefined && performance.now() < until) {
    await delay(lookEvery, signal);
    pid = await otherUserOf(directory, sessionId, own);
  }
  if (pid === undefined) return;
  throw new BowlineError(
    'conversation-in-use',
    `The conversation of ${agent.name} is in use by another process (pid ${pid}), and each would overwrite what the ` +
      'other does. End that one, then use Resume.',
  );
}

/**
 * The pid of a process that works on a conversation, besides the one of `own` and those below it; undefined: none is
 * known. `directory` holds Claude's live-session files. A file that a killed process left behind names nobody (measured:
 * both versions leave it).
 */
async function otherUserOf(directory: string, sessionId: string, own: number | undefined): Promise<number | undefined> {
  for (const pid of await claimants(directory)) if (await worksOn(directory, pid, sessionId, own)) return pid;
  return undefined;
}

/** Whether this process works on the conversation, and is neither `own` nor below it. */
export async function worksOn(
  directory: string,
  pid: number,
  sessionId: string,
  own: number | undefined,
): Promise<boolean> {
  const claim = await readClaim(directory, pid);
  if (claim?.sessionId !== sessionId || !(await isOfLivingProcess(claim))) return false;
  return own === undefined || !(await isWithin(pid, own));
}

/** What the processes that live now work on. `directory` holds Claude's live-session files. */
export async function liveClaims(directory: string): Promise<readonly SessionClaim[]> {
  const claims = await Promise.all((await claimants(directory)).map((pid) => readClaim(directory, pid)));
  const living = await Promise.all(
    claims.map(async (claim) => claim !== undefined && (await isOfLivingProcess(claim))),
  );
  return claims.flatMap((claim, index) => (claim !== undefined && living[index] === true ? [claim] : []));
}

async function claimants(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory).catch(() => []);
  return names.flatMap((name) => /^(\d+)\.json$/.exec(name)?.[1] ?? []).map(Number);
}

/** The same pid may be of another process by now; where the start cannot be compared it is not. */
async function isOfLivingProcess(claim: SessionClaim): Promise<boolean> {
  return (await livingProcess(claim)) !== 'gone';
}

/** The process that made a claim; `unproven`: one of that pid lives, and its start cannot be compared. */
export async function livingProcess({
  pid,
  processStart,
}: SessionClaim): Promise<ProcessIdentity | 'unproven' | 'gone'> {
  const identity = await processIdentity(pid);
  if (identity === undefined) return 'gone';
  if (processStart === undefined || !identity.startTime.startsWith('proc:')) return 'unproven';
  return identity.startTime.endsWith(`:${processStart}`) ? identity : 'gone';
}

async function readClaim(directory: string, pid: number): Promise<SessionClaim | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(directory, `${pid}.json`), 'utf8'));
    const claim = readSessionClaim(value);
    return claim?.pid === pid ? claim : undefined;
  } catch {
    return undefined;
  }
}
