import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, isAbsolute } from 'node:path';
import type { DirectoryFacts, PathFacts } from '../../core/doctor/machineChecks.ts';
import { agentBaseEnvironment, type Environment } from '../environment.ts';
import { exists } from '../files.ts';
import { isProgram } from '../findProgram.ts';
import { loadPty, type PtyModule } from '../pty.ts';

/** Package managers by their program, best first, and how each installs tmux. */
const managers = [
  ['/opt/homebrew/bin/brew', 'brew install tmux'],
  ['/usr/local/bin/brew', 'brew install tmux'],
  ['/usr/bin/apt-get', 'sudo apt-get install tmux'],
  ['/usr/bin/dnf', 'sudo dnf install tmux'],
  ['/usr/bin/pacman', 'sudo pacman -S tmux'],
  ['/usr/bin/zypper', 'sudo zypper install tmux'],
  ['/sbin/apk', 'sudo apk add tmux'],
  ['/home/linuxbrew/.linuxbrew/bin/brew', 'brew install tmux'],
] as const;

/** The command line that installs tmux on this machine; undefined: none is known. */
export async function tmuxInstallation(): Promise<string | undefined> {
  for (const [program, line] of managers) if (await isProgram(program)) return line;
  return undefined;
}

/** `works` when a program ran in a pseudo terminal, else why not. Rejects only when `signal` is aborted. */
export async function tryPty(load: () => unknown, signal: AbortSignal): Promise<string> {
  const pty = loadPty(load);
  return 'unavailable' in pty ? pty.unavailable : runInPty(pty, signal);
}

const wantedCode = 7;

function runInPty(pty: PtyModule, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    try {
      const options = { name: 'xterm', cols: 80, rows: 24, cwd: '/', env: {} };
      const child = pty.spawn('/bin/sh', ['-c', `exit ${wantedCode}`], options);
      const onAbort = (): void => {
        child.kill('SIGKILL');
        reject(new Error('cancelled'));
      };
      child.onExit(({ exitCode }) => {
        signal.removeEventListener('abort', onAbort);
        resolve(exitCode === wantedCode ? 'works' : `a program in a pseudo terminal ended with ${exitCode}`);
      });
      signal.addEventListener('abort', onAbort, { once: true });
    } catch (error) {
      resolve(`node-pty starts no program: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}

/** What a directory has to be. */
export interface DirectoryWish {
  readonly path: string;
  readonly what: string;
  /** `private`: of this user, nobody else may enter. `made`: made when it is needed. `there`: it must be there. */
  readonly wish: 'private' | 'made' | 'there';
}

/** Rejects with the system's error when it cannot be looked at. */
export async function lookAtDirectory({ path, what, wish }: DirectoryWish): Promise<DirectoryFacts> {
  if (!(await exists(path))) {
    if (wish === 'there') return { path, what, state: 'missing' };
    const above = await nearest(path);
    return {
      path,
      what,
      state: (await isWritable(above)) ? 'not there yet' : 'not writable',
      ...(await freeAt(above)),
    };
  }
  const { uid, mode } = await stat(path);
  if (wish === 'private' && uid !== process.getuid?.()) return { path, what, state: 'of another user' };
  if (wish === 'private' && (mode & 0o077) !== 0) return { path, what, state: 'open to others' };
  const state = wish !== 'there' && !(await isWritable(path)) ? 'not writable' : 'good';
  return { path, what, state, ...(wish !== 'there' && (await freeAt(path))) };
}

async function nearest(path: string): Promise<string> {
  const above = dirname(path);
  return above === path || (await exists(above)) ? above : nearest(above);
}

async function isWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false; // whatever the reason, nothing can be made there
  }
}

async function freeAt(path: string): Promise<{ readonly free: number }> {
  const { bavail, bsize } = await statfs(path);
  return { free: bavail * bsize };
}

const mark = 'bowline-path:';

/** The PATH that agents get against that of an interactive login shell. Rejects when the shell does not tell it. */
export async function comparePaths(
  agents: string,
  environment: Environment,
  limit: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<PathFacts> {
  const shell = environment['SHELL'] ?? userInfo().shell ?? '';
  if (!isAbsolute(shell)) throw new Error('which login shell you have is not known');
  const output = await new Promise<string>((resolve) => {
    const options = {
      env: agentBaseEnvironment({ ...environment, PATH: '/usr/bin:/bin' }),
      cwd: '/',
      timeout: limit.timeoutMs,
      killSignal: 'SIGKILL',
      encoding: 'utf8',
      signal: limit.signal,
    } as const;
    // Its start files may fail, and say what they like, and PATH is told all the same.
    const child = execFile(shell, ['-lic', `echo; echo "${mark}$PATH"`], options, (_error, stdout) => {
      resolve(stdout);
    });
    child.stdin?.end();
  });
  const line = output.split('\n').findLast((one) => one.startsWith(mark));
  if (line === undefined) throw new Error(`${shell} did not tell its PATH within ${limit.timeoutMs / 1_000} s`);
  const loginShell = line.slice(mark.length).trim();
  const there: string[] = [];
  for (const one of new Set(loginShell.split(':'))) if (isAbsolute(one) && (await exists(one))) there.push(one);
  return { agents, loginShell, there };
}
