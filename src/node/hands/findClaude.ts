import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { BowlineError } from '../../base/errors.ts';
import type { Environment } from '../environment.ts';

/** Where installers of Claude Code put it, below the home directory and on the machine. */
function usualPlaces(home: string | undefined): readonly string[] {
  const below = home === undefined ? [] : [join(home, '.local', 'bin'), join(home, '.claude', 'local')];
  return [...below, '/usr/local/bin', '/opt/homebrew/bin', '/usr/bin'];
}

/**
 * The absolute path of the `claude` program. `program` is a path, or a name that is looked up in PATH and then in the
 * usual places. Rejects with `claude-missing`.
 */
export async function findClaude(program: string, environment: Environment): Promise<string> {
  if (program.includes('/')) {
    if (isAbsolute(program) && (await isProgram(program))) return program;
    throw missing(`There is no program at ${program}.`);
  }
  const inPath = (environment['PATH'] ?? '').split(delimiter).filter((directory) => isAbsolute(directory));
  for (const directory of [...inPath, ...usualPlaces(environment['HOME'])]) {
    const candidate = join(directory, program);
    if (await isProgram(candidate)) return candidate;
  }
  throw missing(`"${program}" was found neither in PATH nor in the usual places.`);
}

function missing(sentence: string): BowlineError {
  return new BowlineError(
    'claude-missing',
    `${sentence} Install Claude Code, or set "bowline.claudePath" to the full path of claude, and start the agent again.`,
  );
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    // Missing or not to be run: the next place is looked at.
    return false;
  }
}
