/**
 * The program that Claude's hooks run: `hook.js <agent> <launch id>`, the payload on standard input. It tells the gateway
 * which conversation this is and what it does; while the gateway is away it leaves the report in the spool and sees to
 * it that a gateway comes. It ends with 0 within a second, whatever happens: a hook never disturbs. It prints nothing but,
 * once for a fresh launch, what its new conversation is told of the one before.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, writeSync } from 'node:fs';
import { messageOf } from '../base/errors.ts';
import { promptOf, readHookPayload } from '../core/claude/hooks.ts';
import { agentNamePattern } from '../core/fleet/names.ts';
import { readEndpointFile } from '../node/endpointFile.ts';
import { readTextFile } from '../node/files.ts';
import { takeHandover } from '../node/handover.ts';
import { spoolReport } from '../node/hookSpool.ts';
import { processIdentity } from '../node/processIdentity.ts';
import { JsonlLog } from '../node/jsonlLog.ts';
import { promptDigest } from '../node/promptDigest.ts';
import { defaultStateDirectory, type StatePaths, statePaths } from '../node/statePaths.ts';
import type { HookReport } from '../protocol/hookReport.ts';
import { postReport } from './post.ts';
import { startHolderIfGone } from './startHolder.ts';

/**
 * Milliseconds until the payload is there, which comes when Claude gets to it, and from then on until there is an answer and
 * until the end.
 */
const limits = { input: 5_000, answer: 650, end: 880 } as const;
let readAt = performance.now();
/** What nobody has taken yet, to be kept when time is up. */
let untaken: (() => void) | undefined;
/** A prompt with a pasted file may be long. */
const largestPayload = 8 * 1024 * 1024;

async function run(paths: StatePaths, log: JsonlLog): Promise<void> {
  const [agent = '', launchId = ''] = process.argv.slice(2);
  if (!agentNamePattern.test(agent) || launchId === '') {
    log.error('a hook was called without an agent and a launch');
    return;
  }
  const [text, runBy] = await Promise.all([readInput(), processIdentity(process.ppid)]);
  readAt = performance.now();
  setTimeout(() => {
    untaken?.();
    process.exit(0);
  }, limits.end);
  const input: unknown = JSON.parse(text);
  const payload = readHookPayload(input);
  if (payload === undefined) {
    log.warn('a payload names no event or no session', { agent });
    return;
  }
  const { transcriptPath } = payload;
  if (payload.event === 'SessionStart' && payload.source === 'startup') handOver(paths, agent, launchId, log);
  const transcriptExists = transcriptPath !== undefined && existsSync(transcriptPath);
  const at = Math.round(performance.timeOrigin);
  const key = (await readTextFile(paths.agent(agent).key))?.trim();
  const prompt = promptOf(input);
  const receipt = prompt === undefined || key === undefined ? {} : { promptDigest: promptDigest(prompt, key) };
  const id = randomBytes(9).toString('base64url');
  const hook = { ...payload, transcriptExists, ...receipt };
  const report: HookReport = { at, launchId, id, hook, ...(runBy !== undefined && { process: runBy }) };
  untaken = () => {
    spoolReport(paths, agent, report);
  };
  const reason = await tell({ paths, agent, key, log }, report);
  untaken = undefined;
  if (reason === undefined) return;
  spoolReport(paths, agent, report);
  const holder = await startHolderIfGone(paths);
  log.info('a report waits in the spool', { agent, event: report.hook.event, reason, holder });
}

/** Claude gives the model what a hook prints so at the start of a session (measured, claude 2.1.160 and 2.1.332). */
function handOver(paths: StatePaths, agent: string, launchId: string, log: JsonlLog): void {
  try {
    const additionalContext = takeHandover(paths.agent(agent), launchId);
    if (additionalContext === undefined) return;
    writeSync(1, JSON.stringify({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext } }));
  } catch (error) {
    log.error('what was handed over cannot be read', { agent, reason: messageOf(error) });
  }
}

interface Sender {
  readonly paths: StatePaths;
  readonly agent: string;
  /** Of the agent; undefined: its file is missing. */
  readonly key: string | undefined;
  readonly log: JsonlLog;
}

/** Undefined when the gateway has the report or refuses it for good, else why it must wait. */
async function tell(sender: Sender, report: HookReport): Promise<string | undefined> {
  const { paths, agent, key, log } = sender;
  const reading = await readEndpointFile(paths);
  if (reading.kind !== 'ok') return `endpoint file ${reading.kind}`;
  if (key === undefined) return 'no key file';
  const target = { port: reading.endpoint.port, agent, key };
  const outcome = await postReport(target, report, readAt + limits.answer - performance.now());
  if (outcome.kind === 'away') return outcome.reason;
  if (outcome.kind === 'refused') {
    log.warn('the gateway refused a report', { agent, event: report.hook.event, reason: outcome.reason });
  }
  return undefined;
}

/** All of standard input; rejects when it is too long or does not end in time. */
function readInput(): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const limit = setTimeout(() => {
      reject(new Error('the payload did not end in time'));
    }, limits.input);
    process.stdin.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > largestPayload) reject(new Error('the payload is too long'));
      else chunks.push(chunk);
    });
    process.stdin.on('error', reject);
    process.stdin.on('end', () => {
      clearTimeout(limit);
      resolve(Buffer.concat(chunks).toString('utf8'));
    });
  });
}

const paths = statePaths(defaultStateDirectory(process.env));
const log = new JsonlLog(paths.log('hook'));
run(paths, log)
  .catch((error: unknown) => {
    log.error('a hook failed', { reason: error instanceof SyntaxError ? 'the payload is not JSON' : messageOf(error) });
  })
  .finally(() => process.exit(0));
