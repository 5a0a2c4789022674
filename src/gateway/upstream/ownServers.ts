import { createHash } from 'node:crypto';
import { Sequencer } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import { Emitter, type Event } from '../../base/events.ts';
import { DisposableObject } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import type { HookEvent } from '../../core/claude/facts.ts';
import { type Agent, currentLaunch } from '../../core/fleet/agent.ts';
import type { FleetEvent } from '../../core/fleet/events.ts';
import type { Launch } from '../../core/fleet/life.ts';
import { agentOf } from '../../core/fleet/state.ts';
import { loginKey, type ResolvedServer, resolveServers } from '../../core/mcp/resolveServers.ts';
import { isClaudesOwn } from '../../core/mcp/serverEntry.ts';
import { agentEnvironment, type Environment } from '../../node/environment.ts';
import type { McpConfigurationFiles } from '../../node/mcpConfiguration.ts';
import { WatchedFiles } from '../../node/watchedFiles.ts';
import { readEntries } from '../../protocol/mcpEntries.ts';
import type { FleetService } from '../fleetService.ts';
import type { Clock } from '../ports.ts';
import {
  upstreamDefinition,
  type UpstreamDefinition,
  type UpstreamDefinitions,
  type UpstreamName,
  type UpstreamTarget,
} from './definition.ts';

export interface OwnServersOptions {
  readonly fleet: Pick<FleetService, 'state' | 'report' | 'reportDurably' | 'onEvent'>;
  readonly files: Pick<McpConfigurationFiles, 'read' | 'saysOther'>;
  /** Of this process. */
  readonly environment: Environment;
  readonly clock: Clock;
  readonly log: Log;
}

/** The servers of one agent, as they were last read. */
interface Known {
  readonly resolved: readonly ResolvedServer[];
  readonly definitions: ReadonlyMap<string, UpstreamDefinition>;
  /** The files that they come from, also those that are not there. */
  readonly files: readonly string[];
}

/** Reports after which a turn begins or has ended: the agent may have changed its files, or a person. */
const lookAfter: readonly HookEvent[] = ['SessionStart', 'UserPromptSubmit', 'Stop'];

const changesAll: readonly FleetEvent['kind'][] = [
  'settings changed',
  'server approved',
  'server approval withdrawn',
  'server wants login',
];

/** Facts about one agent after which there is a look: it has another configuration, or has a process that may differ. */
const changesOne: readonly FleetEvent['kind'][] = ['agent configured', 'launched'];

/**
 * The agents' own MCP servers: read from the person's files, which are never changed. There is a look at each launch, at
 * hooks, when a file is written, and after what a person changes in Bowline; files that have not changed are not read again.
 */
export class OwnServers extends DisposableObject implements UpstreamDefinitions {
  readonly onDidChange: Event<UpstreamName>;
  private readonly changes: Emitter<UpstreamName>;
  private readonly known = new Map<string, Known>();
  private readonly looks = new Map<string, Sequencer>();
  private readonly watched: WatchedFiles;

  constructor(private readonly options: OwnServersOptions) {
    super();
    this.changes = this._register(
      new Emitter<UpstreamName>((error) => {
        options.log.error('a change of an MCP server was not taken up', { reason: messageOf(error) });
      }),
    );
    this.onDidChange = this.changes.event;
    this.watched = this._register(new WatchedFiles(options.log));
    this._register(
      this.watched.onDidChange((paths) => {
        void this.followFiles(paths);
      }),
    );
    this._register(
      options.fleet.onEvent(({ event }) => {
        this.follow(event);
      }),
    );
  }

  async of({ agent, server }: UpstreamName): Promise<UpstreamDefinition | undefined> {
    const known = this.known.get(agent) ?? (await this.look(agent));
    return known?.definitions.get(server);
  }

  wantsLogin({ agent: name, server }: UpstreamName): void {
    const entry = this.known.get(name)?.resolved.find((one) => one.server.name === server)?.entry;
    if (entry === undefined) return;
    const { fleet, clock } = this.options;
    const login = loginKey(server, entry, digest);
    if (fleet.state.loginServers?.includes(login) === true) return;
    fleet.report({ at: clock(), kind: 'server wants login', name, server, digest: login });
  }

  /** The agent's servers as they are now. Undefined: there is no such agent. Never rejects. */
  async list(name: string): Promise<readonly ResolvedServer[] | undefined> {
    return (await this.look(name))?.resolved;
  }

  /** What a launch is to start with; the fleet knows it when this resolves. Rejects when that cannot be written. */
  async give(agent: Agent, launch: Launch): Promise<readonly ResolvedServer[]> {
    const resolved = (await this.look(agent.name))?.resolved ?? [];
    const { fleet, clock } = this.options;
    const servers = resolved.map(({ server }) => server);
    const { name } = agent;
    if (!isSame(agentOf(fleet.state, name)?.ownServers, servers)) {
      await fleet.reportDurably({ at: clock(), kind: 'own servers read', name, servers, launchId: launch.id });
    }
    return resolved;
  }

  /** Looks at the files of every agent. */
  lookAtAll(): void {
    for (const name of Object.keys(this.options.fleet.state.agents)) void this.look(name);
  }

  private follow(event: FleetEvent): void {
    const { agents } = this.options.fleet.state;
    if (changesAll.includes(event.kind)) {
      this.lookAtAll();
      return;
    }
    if (!('name' in event)) return;
    const { name } = event;
    if (!Object.hasOwn(agents, name)) {
      this.looks.delete(name);
      if (this.known.delete(name)) this.watchFiles();
      return;
    }
    const isOfOne =
      event.kind === 'hook reported' ? lookAfter.includes(event.hook.event) : changesOne.includes(event.kind);
    if (isOfOne) void this.look(name);
  }

  /** Claude writes into some of these files all the time, and seldom something about servers. */
  private async followFiles(paths: readonly string[]): Promise<void> {
    const news = new Set<string>();
    for (const path of paths) if (await this.options.files.saysOther(path)) news.add(path);
    for (const [name, { files }] of this.known) if (files.some((path) => news.has(path))) void this.look(name);
    // A directory may have come or gone.
    this.watchFiles();
  }

  private watchFiles(): void {
    this.watched.watch([...this.known.values()].flatMap(({ files }) => files));
  }

  /** One after another for an agent: what is read later counts. */
  private async look(name: string): Promise<Known | undefined> {
    const looks = this.looks.get(name) ?? new Sequencer();
    this.looks.set(name, looks);
    try {
      return await looks.run(() => this.readAnew(name));
    } catch (error) {
      this.options.log.error('the MCP servers of an agent cannot be read', { agent: name, reason: messageOf(error) });
      return this.known.get(name);
    }
  }

  /** All of one moment: what changes while files are read is for the next look, which each such change brings. */
  private async readAnew(name: string): Promise<Known | undefined> {
    const { fleet, files, environment } = this.options;
    const { state } = fleet;
    const snapshot = agentOf(state, name);
    if (snapshot === undefined) return undefined;
    const { settings, approvedServers = [], loginServers = [] } = state;
    const { directory, aroundBowline = [], extraArguments } = snapshot.configuration;
    const variables = { ...agentEnvironment(environment, settings, snapshot.configuration), BOWLINE_AGENT: name };
    const read = await files.read(directory, variables);
    const agent = agentOf(fleet.state, name);
    if (agent === undefined) return undefined;
    // Claude then takes no server but those that its launch gives it.
    const isStrict = extraArguments.includes('--strict-mcp-config');
    const sources = read.sources.filter(({ scope }) => !isStrict || !isClaudesOwn(scope));
    const resolved = resolveServers({
      sources: [readEntries('bowline', 'bowline.mcpServers', settings.mcpServers ?? {}), ...sources],
      decisions: read.decisions,
      approvedHere: new Set(approvedServers.map(({ digest: approved }) => approved)),
      around: aroundBowline,
      gateway: settings.mcpServersThroughGateway ?? 'on',
      wantLogin: new Set(loginServers),
      environment: variables,
      digest,
    });
    const definitions = new Map(
      resolved.flatMap(({ server, target }) =>
        target === undefined
          ? []
          : [[server.name, upstreamDefinition(forAgent(target, { directory, variables }))] as const],
      ),
    );
    const former = this.known.get(name);
    const known = { resolved, definitions, files: read.files };
    this.known.set(name, known);
    if (former === undefined || !isSameList(former.files, known.files)) this.watchFiles();
    this.tell(agent, known);
    if (former !== undefined) this.announce(name, former, known);
    return known;
  }

  /** What the process of an older Bowline was started with is not known, and stays as it is. */
  private tell(agent: Agent, { resolved }: Known): void {
    const { fleet, clock } = this.options;
    const servers = resolved.map(({ server }) => server);
    if (agent.ownServers === undefined && currentLaunch(agent) !== undefined) return;
    if (agent.life.kind === 'launching') return; // told with the launch
    if (isSame(agent.ownServers, servers)) return;
    fleet.report({ at: clock(), kind: 'own servers read', name: agent.name, servers });
  }

  private announce(agent: string, former: Known, known: Known): void {
    const names = new Set([...former.definitions.keys(), ...known.definitions.keys()]);
    for (const server of names) {
      if (former.definitions.get(server)?.digest === known.definitions.get(server)?.digest) continue;
      this.options.log.info('an MCP server behind the gateway has another definition', { agent, server });
      this.changes.fire({ agent, server });
    }
  }
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}

function isSame(a: Agent['ownServers'], b: Agent['ownServers']): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** A process gets what Claude would give it, and the agent's name, which nothing of the definition can change. */
function forAgent(
  target: NonNullable<ResolvedServer['target']>,
  { directory, variables }: { readonly directory: string; readonly variables: Readonly<Record<string, string>> },
): UpstreamTarget {
  if (target.kind !== 'stdio') return target;
  const { BOWLINE_AGENT: agent = '' } = variables;
  const environment = {
    ...variables,
    CLAUDE_PROJECT_DIR: directory,
    ...target.environment,
    BOWLINE_AGENT: agent,
  };
  return { ...target, environment, directory };
}
