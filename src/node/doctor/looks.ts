import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { BowlineError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { claudeLine, loginLine, type TrustFacts, trustLine } from '../../core/doctor/claudeChecks.ts';
import type { DoctorLine } from '../../core/doctor/line.ts';
import {
  directoriesLine,
  type GatewayFacts,
  gatewayLine,
  mcpLine,
  pathLine,
  ptyLine,
  type ServerFacts,
  tmuxLine,
} from '../../core/doctor/machineChecks.ts';
import { shellLine } from '../../core/claude/shellLine.ts';
import type { FleetSettings } from '../../core/fleet/configuration.ts';
import type { FleetState } from '../../core/fleet/state.ts';
import { resolveServers } from '../../core/mcp/resolveServers.ts';
import { readEntries } from '../../protocol/mcpEntries.ts';
import { claudeDirectory } from '../claudeDirectory.ts';
import { readEndpointFile } from '../endpointFile.ts';
import { agentEnvironment, type Environment } from '../environment.ts';
import { findClaude } from '../hands/findClaude.ts';
import { managedServers, McpConfigurationFiles } from '../mcpConfiguration.ts';
import type { StatePaths } from '../statePaths.ts';
import { TmuxServer } from '../tmux/tmuxServer.ts';
import { loginFacts, trustedDirectories } from './claudeAnswers.ts';
import { comparePaths, type DirectoryWish, lookAtDirectory, tmuxInstallation, tryPty } from './machine.ts';

/** What the Doctor looks at. */
export interface Patient {
  readonly paths: StatePaths;
  /** Of this process. */
  readonly environment: Environment;
  /** As they are in the editor: a gateway may not have taken them yet, or there is none. */
  readonly settings: FleetSettings;
  readonly state: FleetState;
  readonly gateway: Omit<GatewayFacts, 'endpoint'>;
  readonly workspace: TrustFacts['workspace'];
  /** Directories of the open folders, without symbolic links. */
  readonly folders: readonly string[];
  readonly loadPty: () => unknown;
}

/** Of a program that is only asked for its version, in milliseconds. */
const programMs = 3_000;

/** The variables of an agent without any of its own. */
function variablesOf({ environment, settings }: Patient): Record<string, string> {
  return agentEnvironment(environment, settings, undefined);
}

export async function lookForTmux({ paths, settings, environment }: Patient): Promise<DoctorLine> {
  const server = new TmuxServer({
    stateDirectory: paths.directory,
    tmuxPath: settings.tmuxPath,
    environment,
    log: silentLog,
    timeoutMs: programMs,
  });
  try {
    return tmuxLine({ kind: 'found', ...(await server.locate()) }, undefined);
  } catch (error) {
    if (!(error instanceof BowlineError)) throw error;
    const isChosen = settings.tmuxPath !== undefined;
    const install = error.code === 'tmux-missing' && !isChosen ? await tmuxInstallation() : undefined;
    return tmuxLine({ kind: 'missing', sentence: error.message }, install);
  }
}

export async function lookForClaude(patient: Patient, signal: AbortSignal): Promise<DoctorLine> {
  const env = variablesOf(patient);
  let file: string;
  try {
    file = await findClaude(patient.settings.claudePath, env);
  } catch (error) {
    if (!(error instanceof BowlineError)) throw error;
    return claudeLine({ kind: 'missing', sentence: error.message });
  }
  const { stdout } = await promisify(execFile)(file, ['--version'], { env, cwd: '/', timeout: 2 * programMs, signal });
  return claudeLine({ kind: 'found', file, version: stdout.trim().slice(0, 80) });
}

export async function lookAtLogin(patient: Patient): Promise<DoctorLine> {
  const { claudePath } = patient.settings;
  return loginLine(
    await loginFacts(variablesOf(patient), claudePath.includes('/') ? shellLine([claudePath]) : claudePath),
  );
}

export async function lookAtTrust(patient: Patient): Promise<DoctorLine> {
  const directories = await trustedDirectories(patient.folders, variablesOf(patient));
  return trustLine({ workspace: patient.workspace, directories });
}

/** Of the open folders and of every agent's directory. */
export async function lookAtServers(patient: Patient): Promise<DoctorLine> {
  const { folders, settings, state } = patient;
  const files = new McpConfigurationFiles();
  const agents = Object.values(state.agents);
  const directories = [...new Set([...folders, ...agents.map(({ configuration }) => configuration.directory)])];
  const variables = { ...variablesOf(patient), BOWLINE_AGENT: 'agent' };
  const read = async (directory: string): Promise<ServerFacts> => {
    const { sources: own, decisions } = await files.read(directory, variables);
    const sources = [readEntries('bowline', 'bowline.mcpServers', settings.mcpServers ?? {}), ...own];
    const resolved = resolveServers({
      ...{ sources, decisions, environment: variables },
      approvedHere: new Set((state.approvedServers ?? []).map(({ digest }) => digest)),
      around: [],
      gateway: settings.mcpServersThroughGateway ?? 'on',
      wantLogin: new Set(state.loginServers ?? []),
      digest: (text) => createHash('sha256').update(text).digest('base64url'),
    });
    const bad = sources.flatMap(({ file, bad: parts }) => parts.map(({ reason }) => ({ file, reason })));
    return { servers: resolved.map(({ server }) => server), bad };
  };
  const isPrescribed = await access(managedServers).then(
    () => true,
    () => false,
  );
  return mcpLine(await Promise.all(directories.map(read)), isPrescribed ? managedServers : undefined);
}

export async function lookAtGateway({ paths, gateway }: Patient): Promise<DoctorLine> {
  if (gateway.connection.kind === 'away') return gatewayLine(gateway);
  const reading = await readEndpointFile(paths);
  if (reading.kind !== 'ok') return gatewayLine(gateway);
  const { version, port, startedAt } = reading.endpoint;
  const endpoint = `version ${version}, port ${port}, since ${new Date(startedAt).toISOString()}`;
  return gatewayLine({ ...gateway, endpoint });
}

export async function lookAtPty({ loadPty }: Patient, signal: AbortSignal): Promise<DoctorLine> {
  return ptyLine(await tryPty(loadPty, signal));
}

export async function lookAtDirectories(patient: Patient): Promise<DoctorLine> {
  const claude = claudeDirectory(variablesOf(patient));
  const wishes: readonly DirectoryWish[] = [
    { path: patient.paths.directory, what: 'the state of the fleet', wish: 'private' },
    ...(claude === undefined ? [] : [{ path: claude, what: "Claude's files", wish: 'made' } as const]),
    ...Object.values(patient.state.agents).map(({ name, configuration }) => {
      return { path: configuration.directory, what: `the directory of ${name}`, wish: 'there' } as const;
    }),
  ];
  return directoriesLine(await Promise.all(wishes.map(lookAtDirectory)));
}

export async function lookAtPath(patient: Patient, signal: AbortSignal): Promise<DoctorLine> {
  const agents = variablesOf(patient)['PATH'] ?? '';
  return pathLine(await comparePaths(agents, patient.environment, { signal, timeoutMs: 2 * programMs }));
}
