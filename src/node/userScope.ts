import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Environment } from './environment.ts';

/** A systemd that does not answer within this time, in milliseconds, is done without. */
const patienceMs = 2_000;

const scope = ['systemd-run', '--user', '--scope', '--quiet', '--collect', '--'] as const;

/**
 * Words before a command that give it a systemd scope of its own: what ends the editor's scope (its window closed, the
 * session's end with KillUserProcesses, systemd-oomd) then does not end that command. Empty where no systemd of the
 * user does so right now, which a scope for `true` shows. Never rejects.
 */
export async function userScope(environment: Environment): Promise<readonly string[]> {
  if (process.platform !== 'linux' || environment['XDG_RUNTIME_DIR'] === undefined) return [];
  const [program, ...words] = scope;
  const limits = { env: { ...environment }, cwd: '/', timeout: patienceMs, killSignal: 'SIGKILL' } as const;
  try {
    await promisify(execFile)(program, [...words, 'true'], limits);
    return scope;
  } catch {
    return [];
  }
}
