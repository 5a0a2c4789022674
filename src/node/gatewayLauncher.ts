import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { delay } from '../base/async.ts';
import { BowlineError, messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { type Endpoint, type HolderFile, holderFileSchema } from '../protocol/endpointFile.ts';
import { readEndpointFile } from './endpointFile.ts';
import { agentBaseEnvironment } from './environment.ts';
import { ensurePrivateDirectory, readJsonFile, readTextFile } from './files.ts';
import { isSameProcess, type ProcessIdentity, processIdentity } from './processIdentity.ts';
import type { StatePaths } from './statePaths.ts';
import { userScope } from './userScope.ts';

/** What {@link ensureHolder} works with. */
export interface EnsureHolderOptions {
  readonly paths: StatePaths;
  /** Brings programs and launcher to the state directory. Called only when a holder has to be started. */
  readonly install: () => Promise<unknown>;
  readonly log: Log;
  /** Aborting rejects with `cancelled`; a holder that was already started stays. */
  readonly signal?: AbortSignal;
  /** How long to wait for the gateway, in milliseconds (15 s). */
  readonly timeoutMs?: number;
}

const largestOutput = 1_000_000;
/** A gateway that comes up publishes itself within this time, in milliseconds, if it can. */
const unpublishedMs = 2_000;
/** Of one question to a gateway, in milliseconds. */
const answerMs = 1_000;

/**
 * Makes sure that a holder and its gateway run for this state directory, and resolves with where the gateway answers.
 * Safe to call from several windows at once: of several holders one stays.
 * Rejects with `gateway-cannot-start`, whose sentence names the cause and the next step, or with `cancelled`.
 */
export async function ensureHolder(options: EnsureHolderOptions): Promise<Endpoint> {
  const { paths, log, signal } = options;
  const outputs = await Promise.all([paths.holderOutput, paths.gatewayOutput].map(markEnd));
  try {
    return await startAndWait(options);
  } catch (error) {
    if (signal?.aborted) {
      throw new BowlineError('cancelled', 'The start of the Bowline gateway was cancelled.', { cause: error });
    }
    const reason = messageOf(error);
    const words = (await Promise.all(outputs.map((output) => output.lastLines(2)))).flat();
    log.error('the gateway does not start', { reason, output: words.join(' | ') });
    const said = words.length === 0 ? '' : ` It said: ${words.join(' | ')}`;
    throw new BowlineError(
      'gateway-cannot-start',
      `The Bowline gateway does not start: ${reason}${said} Mend the cause and try again; the logs are in ${paths.logs}.`,
      { cause: error },
    );
  }
}

async function startAndWait(options: EnsureHolderOptions): Promise<Endpoint> {
  const { paths, signal } = options;
  const begun = performance.now();
  const limit = begun + (options.timeoutMs ?? 15_000);
  let launcher: Launcher | undefined;
  let reason = 'no holder came up.';
  while (performance.now() < limit) {
    signal?.throwIfAborted();
    const hasEnded = launcher !== undefined && (await isSameProcess(launcher.process)) === 'gone';
    const holder = await liveHolder(paths);
    if (holder) {
      const reading = await readEndpointFile(paths);
      if (reading.kind === 'ok' && reading.endpoint.holder.instance === holder.instance) {
        if ((await isSameProcess(reading.endpoint.gateway)) !== 'gone') return reading.endpoint;
        // A gateway that a full disk keeps from writing its file serves at the same port, with the same token.
        if (performance.now() - begun > unpublishedMs && (await answers(reading.endpoint))) return reading.endpoint;
        reason = 'it ended, and its holder cannot bring it back.';
      } else {
        reason =
          reading.kind === 'unusable' ? `endpoint.json is not usable (${reading.reason}).` : 'it did not come up.';
      }
    } else if (!launcher) {
      launcher = await startLauncher(options, await userScope(holderEnvironment(process.env, paths)));
    } else if (hasEnded && launcher.scope.length > 0) {
      options.log.warn('the holder was not started in a scope of its own; starting it without');
      launcher = await startLauncher(options, []);
    } else if (hasEnded) {
      throw new Error('the launcher ended.');
    }
    await delay(25, signal);
  }
  throw new Error(reason);
}

/** Whether a gateway answers there that takes this token. */
async function answers({ port, token }: Endpoint): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/agents`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(answerMs),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** The holder that runs for this state directory. One that cannot be told dead counts as running. */
export async function liveHolder(paths: StatePaths): Promise<HolderFile | undefined> {
  const reading = await readJsonFile(paths.holder, holderFileSchema);
  if (reading.kind !== 'ok') return undefined;
  return (await isSameProcess(reading.value)) === 'gone' ? undefined : reading.value;
}

/**
 * What agents start with, because the gateway launches them itself while no window is open. Variables of the editor
 * (`VSCODE_*`, `ELECTRON_*`, `NODE_OPTIONS`) would reach every agent and stay out.
 */
export function holderEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  paths: StatePaths,
): Record<string, string> {
  return { ...agentBaseEnvironment(environment), BOWLINE_HOME: paths.directory };
}

interface Launcher {
  /** It ends by itself when it finds another holder at work. */
  readonly process: ProcessIdentity;
  readonly scope: readonly string[];
}

/** The shell ends at once, so that what it started is no child of the window: whoever ends a tree of processes misses it. */
const orphaning = '"$@" >>"$0" 2>&1 & echo $!';

async function startLauncher(
  { paths, install, log }: EnsureHolderOptions,
  scope: readonly string[],
): Promise<Launcher> {
  await ensurePrivateDirectory(paths.directory);
  await install();
  await ensurePrivateDirectory(paths.logs);
  const output = await open(paths.holderOutput, 'a', 0o600);
  try {
    if ((await output.stat()).size > largestOutput) await output.truncate();
  } finally {
    await output.close();
  }
  const shell = spawn('/bin/sh', ['-c', orphaning, paths.holderOutput, ...scope, paths.launcher, 'holder'], {
    cwd: paths.directory,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: holderEnvironment(process.env, paths),
  });
  const [pid] = await Promise.all([text(shell.stdout), once(shell, 'exit')]);
  const launcher = { pid: Number(pid), startTime: '' };
  log.info('started the holder', { launcherPid: launcher.pid, scope: scope.length > 0 });
  return { process: (await processIdentity(launcher.pid)) ?? launcher, scope };
}

/** Remembers where a file ends now, so that later only new lines are quoted. */
async function markEnd(path: string): Promise<{ lastLines(count: number): Promise<string[]> }> {
  const before = (await readOutput(path)).length;
  return {
    async lastLines(count) {
      const content = await readOutput(path);
      const lines = content.slice(content.length < before ? 0 : before).split('\n');
      return lines
        .map((line) => line.trim())
        .filter((line) => line !== '')
        .slice(-count);
    },
  };
}

async function readOutput(path: string): Promise<string> {
  return (await readTextFile(path).catch(() => undefined)) ?? '';
}
