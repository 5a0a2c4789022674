import { lstat, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { BowlineError } from '../../base/errors.ts';
import type { Environment } from '../environment.ts';
import { findProgram, isProgram, missingInterpreter } from '../findProgram.ts';

/** Where installers of Claude Code put it, below the home directory and on the machine. */
function usualPlaces(home: string | undefined): readonly string[] {
  const below = home === undefined ? [] : [join(home, '.local', 'bin'), join(home, '.claude', 'local')];
  return [...below, '/usr/local/bin', '/opt/homebrew/bin', '/usr/bin'];
}

/**
 * The absolute path of the `claude` program. `program` is a path, or a name that is looked up in PATH, in the usual
 * places and by the login shell. Rejects with `claude-missing`, also for a script whose interpreter is missing.
 */
export async function findClaude(program: string, environment: Environment): Promise<string> {
  const file = program.includes('/') ? await programAt(program) : await searched(program, environment);
  const interpreter = await missingInterpreter(file);
  if (interpreter !== undefined)
    throw missing(`${file} cannot be started: its interpreter ${interpreter} is not there.`);
  return file;
}

/**
 * What became of the program of an agent that runs since `startedAt` (milliseconds since the epoch). An update shows by
 * the time of its last change, be it a file put in place or a link set anew.
 */
export async function programSince(
  program: string,
  environment: Environment,
  startedAt: number,
): Promise<'same' | 'replaced' | 'gone'> {
  try {
    const file = await findClaude(program, environment);
    const [link, target] = await Promise.all([lstat(file), stat(file)]);
    return Math.max(link.ctimeMs, target.ctimeMs) > startedAt ? 'replaced' : 'same';
  } catch {
    return 'gone';
  }
}

async function programAt(path: string): Promise<string> {
  if (isAbsolute(path) && (await isProgram(path))) return path;
  throw missing(`There is no program at ${path}.`);
}

async function searched(name: string, environment: Environment): Promise<string> {
  const found = await findProgram(name, { environment, usualPlaces: usualPlaces(environment['HOME']) });
  if (found !== undefined) return found;
  throw missing(`"${name}" was found neither in PATH, nor in the usual places, nor by your login shell.`);
}

function missing(sentence: string): BowlineError {
  return new BowlineError(
    'claude-missing',
    `${sentence} Install Claude Code, or set "bowline.claudePath" to the full path of claude, then resume the agent.`,
  );
}
