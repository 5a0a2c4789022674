import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DisposableStore } from '../../src/base/lifecycle.ts';
import type { Log } from '../../src/base/log.ts';
import { emptyFleet, type FleetState } from '../../src/core/fleet/state.ts';
import { AdminApi } from '../../src/gateway/adminApi.ts';
import { Adoptions } from '../../src/gateway/adoptions.ts';
import { Commands } from '../../src/gateway/commands.ts';
import { ConversationFinder } from '../../src/gateway/conversationFinder.ts';
import { EventStreams } from '../../src/gateway/eventStreams.ts';
import { FleetService } from '../../src/gateway/fleetService.ts';
import { HandsTasks } from '../../src/gateway/handsTasks.ts';
import { HookIntake } from '../../src/gateway/hookIntake.ts';
import { AgentKeyFiles } from '../../src/gateway/keys.ts';
import { LaunchFiles } from '../../src/gateway/launchFiles.ts';
import { McpEndpoint } from '../../src/gateway/mcp/endpoint.ts';
import { Prober } from '../../src/gateway/mcp/prober.ts';
import { SessionStore } from '../../src/gateway/mcp/sessionStore.ts';
import { StandingStreams } from '../../src/gateway/mcp/standingStreams.ts';
import { OwnHands, type OwnHandsOptions } from '../../src/gateway/ownHands.ts';
import { PromptCommands } from '../../src/gateway/promptCommands.ts';
import { followPrompts, PromptStore } from '../../src/gateway/prompts.ts';
import { Restarts } from '../../src/gateway/restarts.ts';
import { Router } from '../../src/gateway/router.ts';
import { ScreenLooks } from '../../src/gateway/screenLooks.ts';
import type { StateJournal } from '../../src/gateway/stateJournal.ts';
import { Windows } from '../../src/gateway/windows.ts';
import { ensureStateDirectories, type StatePaths, statePaths } from '../../src/node/statePaths.ts';
import { OwnServers } from '../../src/gateway/upstream/ownServers.ts';
import { ServerCommands } from '../../src/gateway/upstream/serverCommands.ts';
import { McpConfigurationFiles } from '../../src/node/mcpConfiguration.ts';
import { noUpstreams } from './handUpstreams.ts';

/** Stands for a disk that keeps nothing and refuses nothing. */
export const noJournal: Pick<StateJournal, 'add' | 'commit'> = {
  add: () => undefined,
  commit: () => Promise.resolve(),
};

/** What may differ from the gateway's own composition. */
export interface PartsOptions {
  readonly state?: FleetState;
  readonly clock?: () => number;
  readonly pingEveryMs?: number;
  readonly backlogAtMost?: number;
  /** The gateway's own hands; without them effects wait for a window. */
  readonly ownHands?: Pick<OwnHandsOptions, 'create' | 'after'>;
  /** Stands for the disk; nothing is really written. */
  readonly save?: () => Promise<void>;
}

/** The parts of the gateway in this process, on a port of their own, with nothing behind `/mcp`. */
export class GatewayParts {
  readonly token = 't'.repeat(43);
  port = 0;
  /** For a launch without hands. */
  launchFiles: Pick<LaunchFiles, 'prepare'> = { prepare: () => Promise.reject(new Error('not started')) };

  private constructor(
    readonly paths: StatePaths,
    readonly fleet: FleetService,
    readonly keys: AgentKeyFiles,
    /** Warnings and errors. */
    readonly logged: readonly string[],
    readonly own: OwnServers,
    /** What {@link own} reads. */
    readonly files: McpConfigurationFiles,
    private readonly store: DisposableStore,
    private readonly server: Server,
  ) {}

  private readonly writing = new Set<Promise<unknown>>();

  static async start(options: PartsOptions = {}): Promise<GatewayParts> {
    const paths = statePaths(realpathSync(mkdtempSync(join(tmpdir(), 'bowline-parts-'))));
    await ensureStateDirectories(paths);
    const store = new DisposableStore();
    const clock = options.clock ?? Date.now;
    const logged: string[] = [];
    const keep = (message: string, fields: object = {}): void => {
      logged.push(`${message} ${JSON.stringify(fields)}`);
    };
    const log: Log = { debug: () => undefined, info: () => undefined, warn: keep, error: keep };
    const keys = await AgentKeyFiles.load(paths, log);
    const sessions = await SessionStore.open({ path: paths.mcpSessions, clock, log });
    const journal = { ...noJournal, ...(options.save !== undefined && { commit: options.save }) };
    const fleet = store.add(new FleetService({ state: options.state ?? emptyFleet, clock, log, journal }));
    fleet.report({ at: 1, kind: 'epoch started', epoch: { id: 'epoch', startedAt: 1, port: 'was closed' } });
    const environment = { HOME: join(paths.directory, 'home') };
    const configuration = new McpConfigurationFiles();
    const own = store.add(
      new OwnServers({
        ...{ fleet, clock, log, environment },
        files: configuration,
      }),
    );
    const server = createServer();
    const parts = new GatewayParts(paths, fleet, keys, logged, own, configuration, store, server);
    parts.port = await listen(server);
    const streams = store.add(new StandingStreams({ fleet, clock }));
    const prober = store.add(new Prober({ fleet, streams, clock }));
    const mcp = store.add(
      new McpEndpoint({ fleet, keys, sessions, streams, prober, servers: [], upstreams: noUpstreams, clock, log }),
    );
    const servers = new ServerCommands({ fleet, own, clock, upstreams: mcp.upstreams });
    const files = new LaunchFiles({ fleet, paths, keys, own, port: parts.port });
    parts.launchFiles = files;
    const prompts = new PromptStore(paths);
    const tasks = store.add(
      new HandsTasks({
        fleet,
        clock,
        log,
        prepare: (agent, launch) => {
          const prepared = files.prepare(agent, launch);
          parts.writing.add(prepared);
          return prepared;
        },
        promptText: (name, promptId) => prompts.text(name, promptId),
      }),
    );
    let ids = 0;
    const finder = new ConversationFinder({ fleet, clock, environment: {} });
    const restarts = new Restarts({ fleet, clock, looks: new ScreenLooks({ fleet, clock }), files, finder });
    const { fleetSocket } = paths;
    const adoptions = store.add(new Adoptions({ fleet, clock, log, environment, fleetSocket }));
    const commands = new Commands({
      ...{ fleet, clock, newId: () => `id${++ids}` },
      prompts: new PromptCommands({ fleet, clock, keys, prompts }),
      ...{ restarts, finder, adoptions, servers },
    });
    const limits = {
      ...(options.pingEveryMs !== undefined && { pingEveryMs: options.pingEveryMs }),
      ...(options.backlogAtMost !== undefined && { backlogAtMost: options.backlogAtMost }),
    };
    const ownHands = options.ownHands && {
      ownHands: store.add(new OwnHands({ fleet, tasks, clock, log, ...options.ownHands })),
    };
    const windows = store.add(
      new Windows({ fleet, tasks, commands, clock, log, version: 'test', ...limits, ...ownHands }),
    );
    const events = store.add(new EventStreams(fleet));
    const admin = new AdminApi({
      fleet,
      commands,
      restarts,
      adoptions,
      servers,
      events,
      handOver: () => Promise.resolve(),
      clock,
      log,
      environment,
      token: parts.token,
    });
    const hooks = new HookIntake({ fleet, keys, clock, log });
    const router = new Router({ port: parts.port, mcp, hooks, admin, windows, log });
    server.on('request', (request, response) => void router.handle(request, response));
    server.on('upgrade', (request, socket, head) => {
      router.upgrade(request, socket, head);
    });
    store.add(followPrompts({ fleet, prompts, log }));
    fleet.start();
    return parts;
  }

  /** Resolves when the files of the launches that were asked for so far are written. */
  async prepared(): Promise<void> {
    await Promise.allSettled(this.writing);
  }

  /** How many connections its server has. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.getConnections((error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  }

  async dispose(): Promise<void> {
    this.store.dispose();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    // Files that are still being written would bring the directory back.
    await this.prepared();
    rmSync(this.paths.directory, { recursive: true, force: true });
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
