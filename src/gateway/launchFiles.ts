import { hookSettings } from '../core/claude/hooks.ts';
import { launchArguments } from '../core/claude/launchArguments.ts';
import { shellLine } from '../core/claude/shellLine.ts';
import { type Agent, configuredBuiltIns, runningLaunch } from '../core/fleet/agent.ts';
import { builtInServers } from '../core/fleet/builtInServers.ts';
import type { Launch } from '../core/fleet/life.ts';
import { keptFromClaude } from '../core/mcp/keptFromClaude.ts';
import type { ResolvedServer } from '../core/mcp/resolveServers.ts';
import type { ServerEntry } from '../core/mcp/serverEntry.ts';
import { ensurePrivateDirectory, writeFileAtomic } from '../node/files.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { RestartPlan } from '../protocol/restartPlan.ts';
import type { HandsTask } from '../protocol/stream.ts';
import { compareEnvironment, keepEnvironment } from './launchedEnvironment.ts';
import type { AgentKeys, FleetPort } from './ports.ts';
import type { OwnServers } from './upstream/ownServers.ts';

type LaunchTask = Extract<HandsTask, { kind: 'launch' }>;

/** What {@link LaunchFiles} works with. */
export interface LaunchFilesOptions {
  readonly fleet: FleetPort;
  readonly paths: StatePaths;
  readonly keys: AgentKeys;
  readonly own: Pick<OwnServers, 'give'>;
  /** Where the gateway listens. */
  readonly port: number;
}

/** Gives a launch what it starts with: its configuration files, written when it is handed out, and its task. */
export class LaunchFiles {
  constructor(private readonly options: LaunchFilesOptions) {}

  /**
   * Writes the MCP configuration (it holds the key, mode 0600) and the settings with the hooks, then resolves with the
   * task. Rejects with the system's error, or a RangeError for a conversation that cannot be resumed by its id.
   */
  async prepare(agent: Agent, launch: Launch): Promise<HandsTask> {
    const { paths, keys, own } = this.options;
    const { name } = agent;
    const files = paths.agent(name);
    const task = this.task(agent, launch);
    const [key, servers] = await Promise.all([keys.keyOf(name), own.give(agent, launch)]);
    await ensurePrivateDirectory(files.directory);
    await Promise.all([
      writeFileAtomic(files.mcpConfig, toText(this.mcpConfiguration(agent, launch, key, servers))),
      writeFileAtomic(files.settings, toText(this.settings(agent, launch, servers))),
      keepEnvironment(files.launched, { launchId: launch.id, environment: task.environment, key }),
    ]);
    return task;
  }

  /** What a launch would run. Throws a RangeError for a conversation that cannot be resumed by its id. */
  task(agent: Agent, launch: Launch): LaunchTask {
    const { settings } = this.options.fleet.state;
    const { configuration, name } = agent;
    const files = this.options.paths.agent(name);
    return {
      kind: 'launch',
      id: `launch:${launch.id}`,
      name,
      launchId: launch.id,
      directory: configuration.directory,
      program: settings.claudePath,
      arguments: [
        ...launchArguments({
          conversation:
            launch.expectedSessionId === undefined
              ? { mode: 'fresh' }
              : { mode: 'resume', sessionId: launch.expectedSessionId },
          settingsFile: files.settings,
          mcpConfigFile: files.mcpConfig,
          extraArguments: configuration.extraArguments,
          ...(configuration.model !== undefined && { model: configuration.model }),
          ...(configuration.permissionMode !== undefined && { permissionMode: configuration.permissionMode }),
          ...(configuration.effort !== undefined && { effort: configuration.effort }),
          ...(configuration.systemPrompt !== undefined && { systemPrompt: configuration.systemPrompt }),
          ...(configuration.addedDirectories !== undefined && { addedDirectories: configuration.addedDirectories }),
        }),
      ],
      environment: {
        ...settings.environment,
        ...configuration.environment,
        BOWLINE_AGENT: name,
        BOWLINE_LAUNCH: launch.id,
      },
      ...(launch.guard !== undefined && { guard: launch.guard }),
    };
  }

  /** The variables that Bowline would set for `launch`, by name, against those of the process that runs now. */
  async environmentDifference(agent: Agent, launch: Launch): Promise<RestartPlan['environment']> {
    const { paths, keys } = this.options;
    return compareEnvironment(paths.agent(agent.name).launched, {
      launchId: runningLaunch(agent)?.launch.id,
      environment: this.task(agent, launch).environment,
      key: await keys.keyOf(agent.name),
    });
  }

  /** Each name here beats the same name of every file that Claude reads itself. */
  private mcpConfiguration(agent: Agent, launch: Launch, key: string, own: readonly ResolvedServer[]): object {
    const headers = { 'X-Agent-Name': agent.name, 'X-Agent-Launch': launch.id, Authorization: `Bearer ${key}` };
    const address = (server: string): string => `http://127.0.0.1:${this.options.port}/mcp/${server}`;
    const endpoint = (server: string): object => ({ type: 'http', url: address(server), headers });
    const entries = [
      ...configuredBuiltIns(agent).map((server) => [server, endpoint(server)] as const),
      ...own.flatMap(({ server: { name, way }, entry }): readonly (readonly [string, object])[] => {
        if (entry === undefined || way === 'not given') return [];
        return [[name, way === 'direct' ? entry.raw : { ...forClaude(entry), ...endpoint(name) }]];
      }),
    ];
    return { mcpServers: Object.fromEntries(entries) };
  }

  private settings(agent: Agent, launch: Launch, own: readonly ResolvedServer[]): object {
    const hooks = hookSettings({
      // Without a shell in between, what runs the hook is Claude itself.
      command: `exec ${shellLine([this.options.paths.launcher, 'hook', agent.name, launch.id])}`,
      // What an agent's own servers may do is for Claude's permissions to say.
      allowedServers: builtInServers.filter((name) => agent.configuration.servers[name] === 'on'),
    });
    return { ...hooks, ...keptFromClaude(own, configuredBuiltIns(agent)) };
  }
}

/** Fields of a definition that say how the server is reached. */
const reached = ['type', 'command', 'args', 'env', 'url', 'headers'];

/** The fields that stay Claude's to follow, such as a time limit for calls. */
function forClaude({ raw }: ServerEntry): object {
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !reached.includes(name)));
}

function toText(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
