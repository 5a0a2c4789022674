import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { agentBaseEnvironment, type Environment } from './environment.ts';

export interface ProgramSearch {
  /** Of the calling process; an editor started from the desktop has a short PATH. */
  readonly environment: Environment;
  /** Directories that are looked at after PATH. */
  readonly usualPlaces: readonly string[];
  /** Limit of each question to the login shell, in milliseconds (5 s). */
  readonly timeoutMs?: number;
}

/** Names that are safe in a line for any shell. */
const plainName = /^[A-Za-z0-9._-]+$/;

/**
 * The absolute path of a program: from PATH, the usual places, and last from the person's login shell, first without and
 * then with its interactive start files (version managers write to those). `undefined`: it is in none of them.
 */
export async function findProgram(name: string, search: ProgramSearch): Promise<string | undefined> {
  const inPath = (search.environment['PATH'] ?? '').split(delimiter).filter((directory) => isAbsolute(directory));
  for (const directory of [...inPath, ...search.usualPlaces]) {
    const file = join(directory, name);
    if (await isProgram(file)) return file;
  }
  for (const options of ['-lc', '-lic']) {
    const file = await askLoginShell(name, options, search);
    if (file !== undefined && (await isProgram(file))) return file;
  }
  return undefined;
}

/** Whether there is a file that this user may execute. */
export async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    // Missing, or not to be run: the same for the search.
    return false;
  }
}

/** The interpreter in the first line of a script, if that is not there: the script cannot be started then. */
export async function missingInterpreter(path: string): Promise<string | undefined> {
  const interpreter = /^#! *(\/\S+)/.exec(await firstBytes(path, 256))?.[1];
  return interpreter === undefined || (await isProgram(interpreter)) ? undefined : interpreter;
}

async function firstBytes(path: string, count: number): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
      return buffer.toString('latin1', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return ''; // A program may be executable without being readable.
  }
}

function askLoginShell(name: string, options: string, search: ProgramSearch): Promise<string | undefined> {
  const shell = search.environment['SHELL'] ?? userInfo().shell;
  if (shell === null || !isAbsolute(shell) || !plainName.test(name)) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const settings = {
      env: agentBaseEnvironment(search.environment),
      cwd: '/',
      timeout: search.timeoutMs ?? 5_000,
      killSignal: 'SIGKILL',
      encoding: 'utf8',
    } as const;
    // Start files print what they like: the answer is the last line that is a path.
    const child = execFile(shell, [options, `command -v ${name}`], settings, (_error, stdout) => {
      resolve(
        stdout
          .trim()
          .split('\n')
          .map((line) => line.trim())
          .findLast(isAbsolute),
      );
    });
    child.stdin?.end();
  });
}
