import { isAbsolute, join } from 'node:path';
import { BowlineError } from '../../base/errors.ts';
import type { Environment } from '../environment.ts';
import { findProgram, isProgram } from '../findProgram.ts';

/** Where installers of Claude Code put it, below the home directory and on the machine. */
function usualPlaces(home: string | undefined): readonly string[] {
  const below = home === undefined ? [] : [join(home, '.local', 'bin'), join(home, '.claude', 'local')];
  return [...below, '/usr/local/bin', '/opt/homebrew/bin', '/usr/bin'];
}

/**
 * The absolute path of the `claude` program. `program` is a path, or a name that is looked up in PATH, in the usual
 * places and by the login shell. Rejects with `claude-missing`.
 */
export async function findClaude(program: string, environment: Environment): Promise<string> {
  if (program.includes('/')) {
    if (isAbsolute(program) && (await isProgram(program))) return program;
    throw missing(`There is no program at ${program}.`);
  }
  const found = await findProgram(program, { environment, usualPlaces: usualPlaces(environment['HOME']) });
  if (found === undefined)
    throw missing(`"${program}" was found neither in PATH, nor in the usual places, nor by your login shell.`);
  return found;
}

function missing(sentence: string): BowlineError {
  return new BowlineError(
    'claude-missing',
    `${sentence} Install Claude Code, or set "bowline.claudePath" to the full path of claude, and start the agent again.`,
  );
}
