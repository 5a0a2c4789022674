import { realpath, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { BowlineError, messageOf } from '../base/errors.ts';
import { newServers, switchableServers } from '../core/fleet/builtInServers.ts';
import type { AgentConfiguration, FleetSettings } from '../core/fleet/configuration.ts';
import type { FleetState } from '../core/fleet/state.ts';
import type { ConfigurationChange } from '../protocol/fleetState.ts';

/** What Bowline itself says to Claude; a second one would win, or stop the launch. */
const ownArguments = [
  '--resume',
  '-r',
  '--continue',
  '-c',
  '--session-id',
  '--fork-session',
  '--settings',
  '--mcp-config',
];

/** What a new agent begins with. */
export function newConfiguration(directory: string, settings: FleetSettings): AgentConfiguration {
  return { directory, extraArguments: [], environment: {}, servers: newServers(settings) };
}

/** Throws `name-taken`. */
export function refuseTaken({ agents }: Pick<FleetState, 'agents'>, name: string): void {
  if (!Object.hasOwn(agents, name)) return;
  throw new BowlineError('name-taken', `An agent named ${name} exists already. Choose another name, or remove it.`);
}

/** The configuration with a change that was checked. Rejects with `bad-request` or `directory-missing`. */
export async function configurationAfter(
  before: AgentConfiguration,
  change: ConfigurationChange,
): Promise<AgentConfiguration> {
  for (const word of [change.model, change.permissionMode, change.effort]) refuseNoWord(word ?? undefined);
  for (const argument of change.extraArguments ?? []) refuseOwnArgument(argument);
  if (change.systemPrompt?.includes('\0') === true) {
    throw new BowlineError(
      'bad-request',
      'The system prompt holds a character that no argument can hold. Leave it out.',
    );
  }
  const addedDirectories =
    change.addedDirectories === undefined ? {} : { addedDirectories: await realDirectories(change.addedDirectories) };
  for (const name of Object.keys(change.servers ?? {})) refuseUnknownServer(name, before);
  const servers = { ...before.servers, ...change.servers };
  const merged = { ...before, ...change, ...addedDirectories, servers };
  const { model, permissionMode, effort, systemPrompt, healing, failedResume, idleMinutes, ...rest } = merged;
  return {
    ...rest,
    ...(model != null && { model }),
    ...(permissionMode != null && { permissionMode }),
    ...(effort != null && { effort }),
    ...(systemPrompt != null && systemPrompt !== '' && { systemPrompt }),
    ...(healing != null && { healing }),
    ...(failedResume != null && { failedResume }),
    ...(idleMinutes != null && { idleMinutes }),
  };
}

function refuseUnknownServer(name: string, before: AgentConfiguration): void {
  const known = switchableServers(before);
  if (known.includes(name)) return;
  throw new BowlineError(
    'bad-request',
    `The agent has no MCP server "${name.slice(0, 100)}". It has: ${known.join(', ')}.`,
  );
}

/** Refuses what Claude would not take for the value of an option. */
export function refuseNoWord(value: string | undefined): void {
  if (value === undefined || /^[^-\s]\S*$/.test(value)) return;
  throw new BowlineError(
    'bad-request',
    `"${value}" is no model, permission mode or effort. Leave it out, or correct it.`,
  );
}

/** The directory without symbolic links. Rejects with `directory-missing`. */
export async function realDirectory(text: string): Promise<string> {
  const missing = (what: string): BowlineError =>
    new BowlineError('directory-missing', `${what} Choose a directory that exists, by its absolute path.`);
  if (!isAbsolute(text) || text.includes('\0')) throw missing(`"${text}" is not an absolute path.`);
  try {
    const directory = await realpath(text);
    if ((await stat(directory)).isDirectory()) return directory;
  } catch (error) {
    throw missing(`The directory ${text} cannot be used (${messageOf(error)}).`);
  }
  throw missing(`${text} is not a directory.`);
}

async function realDirectories(texts: readonly string[]): Promise<readonly string[]> {
  return [...new Set(await Promise.all(texts.map(realDirectory)))];
}

function refuseOwnArgument(argument: string): void {
  const own = ownArguments.find((name) => argument === name || argument.startsWith(`${name}=`));
  if (own === undefined && !argument.includes('\0')) return;
  throw new BowlineError(
    'bad-request',
    `The extra argument "${argument.slice(0, 100)}" cannot be used: ${own ?? 'it holds a character that no argument can hold; it'} is Bowline's own. Leave it out.`,
  );
}
