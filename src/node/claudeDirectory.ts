import { join } from 'node:path';

/** Where Claude keeps its files, given the environment that it is started with (measured, claude 2.1.160 and 2.1.332). */
export function claudeDirectory(environment: Readonly<Record<string, string>>): string | undefined {
  const configured = environment['CLAUDE_CONFIG_DIR'];
  if (configured !== undefined && configured !== '') return configured;
  const home = environment['HOME'];
  return home === undefined ? undefined : join(home, '.claude');
}

/** Where Claude keeps accounts, answers, and the user's and the local scope of MCP servers. */
export function claudeFile(environment: Readonly<Record<string, string>>): string | undefined {
  const { CLAUDE_CONFIG_DIR: configured, HOME: home } = environment;
  const directory = configured === undefined || configured === '' ? home : configured;
  return directory === undefined ? undefined : join(directory, '.claude.json');
}
