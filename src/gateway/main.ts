/**
 * The gateway: the fleet's one brain and writer, behind the socket that the holder owns. Its only composition root.
 * It ends with 0 when it is asked to (SIGTERM), which ends the holder, too; with 3 when its holder is gone, because the
 * next holder needs the port and the state; with 1 when it cannot go on; with 4 when another version has taken over.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { basename, dirname } from 'node:path';
import { withTimeout } from '../base/async.ts';
import { BowlineError, messageOf } from '../base/errors.ts';
import { DisposableStore, toDisposable } from '../base/lifecycle.ts';
import { withoutFuture } from '../core/fleet/clockSetBack.ts';
import type { Notice } from '../core/fleet/state.ts';
import { Hands } from '../node/hands/hands.ts';
import { JsonlLog } from '../node/jsonlLog.ts';
import { McpConfigurationFiles } from '../node/mcpConfiguration.ts';
import { processIdentity } from '../node/processIdentity.ts';
import { isInstalled, removeUnusedVersions } from '../node/programVersions.ts';
import { ensureStateDirectories, type StatePaths, statePaths } from '../node/statePaths.ts';
import { removeUnfinishedFiles } from '../node/unfinishedFiles.ts';
import { type Endpoint, endpointProtocol } from '../protocol/endpointFile.ts';
import { AdminApi } from './adminApi.ts';
import { Adoptions } from './adoptions.ts';
import { followAgents, forgetRemoved } from './agentFiles.ts';
import { Commands } from './commands.ts';
import { ContextStore } from './contexts.ts';
import { ConversationFinder } from './conversationFinder.ts';
import { newEpoch, readFormerRun } from './epoch.ts';
import { EventStreams } from './eventStreams.ts';
import { FleetService } from './fleetService.ts';
import { HandOver, takeoverFailedNotice } from './handOver.ts';
import { HandsTasks } from './handsTasks.ts';
import { HookIntake } from './hookIntake.ts';
import { HostClock } from './hostClock.ts';
import { limitStrangers } from './http/strangers.ts';
import { AgentKeyFiles } from './keys.ts';
import { LaunchFiles } from './launchFiles.ts';
import { prepareLaunch } from './launchPreparation.ts';
import { McpEndpoint } from './mcp/endpoint.ts';
import { memoryServer } from './mcp/memoryServer.ts';
import { messagingServer } from './mcp/messagingServer.ts';
import { nudge } from './mcp/nudge.ts';
import { Prober } from './mcp/prober.ts';
import { selfServer } from './mcp/selfServer.ts';
import { SessionStore } from './mcp/sessionStore.ts';
import { StandingStreams } from './mcp/standingStreams.ts';
import { Messages } from './messages.ts';
import { Notes } from './notes.ts';
import { type CreateHands, OwnHands } from './ownHands.ts';
import { PromptCommands } from './promptCommands.ts';
import { followPrompts, PromptStore } from './prompts.ts';
import { Restarts } from './restarts.ts';
import { Router } from './router.ts';
import { ScreenLooks } from './screenLooks.ts';
import { SpoolDrain } from './spoolDrain.ts';
import { SignOfLife } from './signOfLife.ts';
import { StateJournal } from './stateJournal.ts';
import { loadState } from './stateStore.ts';
import { after } from './timer.ts';
import { followTranscripts } from './transcriptLooks.ts';
import { HttpPool } from './upstream/httpPool.ts';
import { upstreamOpener } from './upstream/openUpstream.ts';
import { OwnServers } from './upstream/ownServers.ts';
import { ServerCommands } from './upstream/serverCommands.ts';
import { StdioProcesses } from './upstream/stdioProcesses.ts';
import { Windows } from './windows.ts';

/** The holder passes the listening socket here. */
const listeningDescriptor = 3;
/**
 * Between two heartbeats; what else is due at intervals is done with them, because each time that the process wakes costs
 * more than what it does then. Also how exactly the next run knows when this one ended.
 */
const pulseEveryMs = 4_000;
/** The holder waits a second for a gateway that outlives its own holder. */
const flushLimitMs = 800;
/** So long stdio servers may end by themselves when this process does; then they are killed with it. */
const endLimitMs = 500;
/** A hand-over has time, but the holder must not take it for a hang. */
const settleLimitMs = 7_000;
/** By then agents that outlived the run before have their tools again. */
const lookAtServersAfterMs = 10_000;
/** By then the holder has decided which version is in use. */
const removeUnusedAfterMs = 30_000;

async function main(): Promise<void> {
  const { BOWLINE_HOME: home, BOWLINE_HOLDER: holder, BOWLINE_PORT_TAKEN: portTaken } = process.env;
  if (home === undefined || holder === undefined || process.send === undefined) {
    throw new BowlineError('gateway-cannot-start', 'The gateway is started by its holder: run `launcher holder`.');
  }
  await standBy();
  const clock = Date.now;
  const paths = statePaths(home);
  await ensureStateDirectories(paths);
  const log = new JsonlLog(paths.log('gateway'));
  const [loaded, former, keys, sessions, identity] = await Promise.all([
    loadState(paths, log),
    readFormerRun(paths),
    AgentKeyFiles.load(paths, log),
    SessionStore.open({ path: paths.mcpSessions, clock, log }),
    processIdentity(process.pid),
  ]);
  if (identity === undefined) throw new Error('the start time of this process cannot be read');

  const store = new DisposableStore();
  const journal = await StateJournal.open({ paths, log, loaded });
  const fleet = store.add(new FleetService({ state: loaded.state, sequence: loaded.sequence, clock, log, journal }));
  noteClockSetBack(fleet, clock(), log);
  await forgetRemoved({ state: loaded.state, keys, paths, log });
  const prompts = new PromptStore(paths);
  store.add(followTranscripts({ fleet, clock, keys, log }));
  store.add(followPrompts({ fleet, prompts, log }));
  // What hooks left is older than what is told once the socket is served, such as the end of the process that they were of.
  await store.add(new SpoolDrain({ fleet, paths, clock, log })).begun;
  const server = createServer();
  store.add(limitStrangers(server));
  server.keepAliveTimeout = 600_000; // a client that reuses a connection in the moment of its end loses a call
  const port = await listen(server);
  const epoch = newEpoch(former, { holder, port, now: clock(), portSince: loaded.state.epoch?.portSince });
  fleet.report({ at: epoch.startedAt, kind: 'epoch started', epoch });
  fleet.report({ at: epoch.startedAt, kind: 'hands changed' });
  const version = programVersion();
  for (const notice of [...loaded.notices, ...portNotices(portTaken, port), ...takeoverNotices(version)]) {
    fleet.report({ at: clock(), kind: 'noticed', notice: { at: clock(), ...notice } });
  }

  // No await from here to the handlers: connections wait, and the first one finds everything in place.
  const streams = store.add(new StandingStreams({ fleet, clock }));
  const prober = store.add(new Prober({ fleet, streams, clock }));
  const contexts = new ContextStore(paths, fleet);
  const kept = { fleet, paths, clock, log };
  const servers = [
    selfServer({ fleet, contexts, clock, log, version }),
    messagingServer({ fleet, messages: new Messages(kept), clock, log, version }),
    memoryServer({ notes: new Notes(kept), clock, log, version }),
  ];
  const pool = store.add(new HttpPool());
  const processes = new StdioProcesses({ directory: paths.upstreams, gateway: identity, log });
  void processes.endLeftOver();
  const own = store.add(
    new OwnServers({
      ...{ fleet, clock, log, environment: process.env },
      files: new McpConfigurationFiles(),
    }),
  );
  const upstreams = {
    definitions: own,
    open: upstreamOpener({ pool, processes, log, clock }),
    beforeUse: () => {
      hostClock.look();
    },
  };
  const mcp = store.add(new McpEndpoint({ fleet, keys, sessions, streams, prober, servers, upstreams, clock, log }));
  const launchFiles = new LaunchFiles({ fleet, paths, keys, own, port });
  const token = former.endpoint?.token ?? randomBytes(32).toString('base64url');
  const endpoint: Endpoint = {
    protocol: endpointProtocol,
    port,
    token,
    gateway: { ...identity, instance: epoch.id },
    holder: { instance: holder },
    startedAt: epoch.startedAt,
    version,
  };
  const sign = new SignOfLife(paths, endpoint, log);
  const preparation = { ...{ files: launchFiles, contexts, paths, clock }, published: () => sign.confirm() };
  const tasks = store.add(
    new HandsTasks({
      ...{ fleet, clock, log },
      prepare: (agent, launch) => prepareLaunch(preparation, agent, launch),
      promptText: (name, promptId) => prompts.text(name, promptId),
    }),
  );
  const finder = new ConversationFinder({ fleet, clock, environment: process.env });
  const restarts = new Restarts({ fleet, clock, looks: new ScreenLooks({ fleet, clock }), files: launchFiles, finder });
  const adoptions = store.add(
    new Adoptions({
      ...{ fleet, clock, log },
      ...{ environment: process.env, fleetSocket: paths.fleetSocket },
    }),
  );
  const serverCommands = new ServerCommands({ fleet, own, clock, upstreams: mcp.upstreams });
  const commands = new Commands({
    ...{ fleet, clock, newId: randomUUID },
    prompts: new PromptCommands({ fleet, clock, keys, prompts }),
    ...{ restarts, finder, adoptions, servers: serverCommands },
  });
  const ownHands = store.add(new OwnHands({ fleet, tasks, create: handsOf(fleet, paths, log), clock, log }));
  const windows = store.add(new Windows({ fleet, tasks, commands, ownHands, clock, log, version }));
  const events = store.add(new EventStreams(fleet));
  const handOver = new HandOver({
    ...{ server, port, paths, fleet, clock, log, version },
    settle: () => settle({ fleet, store, sessions, log, journal, processes }),
    toHolder: (message) => process.send?.(message),
    end: () => process.exit(4),
  });
  process.on('message', (message) => {
    handOver.accept(message);
  });
  const admin = new AdminApi({
    ...{ fleet, commands, restarts, adoptions, events, clock, log, token, environment: process.env },
    servers: serverCommands,
    handOver: async (wanted) => {
      await fleet.flush(); // what cannot be written would be lost with this process
      await handOver.request(wanted);
    },
  });
  const hooks = new HookIntake({ fleet, keys, clock, log });
  const router = new Router({ port, mcp, hooks, admin, windows, log });
  server.on(
    'request',
    handOver.around((request, response) => void router.handle(request, response)),
  );
  server.on(
    'upgrade',
    handOver.aroundUpgrade((request, socket, head) => {
      router.upgrade(request, socket, head);
    }),
  );
  store.add(
    fleet.onEffects((effects) => {
      for (const effect of effects) {
        if (effect.kind === 'probe') prober.run(effect);
        if (effect.kind === 'nudge') nudge({ fleet, streams, clock }, effect);
      }
    }),
  );
  store.add(
    fleet.onEvent(({ event }) => {
      if (event.kind === 'host resumed') pool.invalidate();
    }),
  );
  store.add(followAgents({ fleet, keys, paths, mcp, log }));
  const hostClock = new HostClock(pulseEveryMs, () => {
    log.info('the host slept, or its clock was set');
    // Not only by the event, which is told later where listeners are being told, and not at all where it changes nothing.
    pool.invalidate();
    fleet.report({ at: clock(), kind: 'host resumed' });
  });

  beat();
  store.add(
    every(pulseEveryMs, () => {
      beat();
      hostClock.look();
      void sign.give();
    }),
  );
  process.on('exit', () => {
    processes.kill();
  });
  endWith({ fleet, store, sessions, log, journal, processes }, handOver);
  await sign.begin();
  // Nothing is started before the hooks of what is started would find this gateway.
  fleet.start();
  adoptions.begin();
  store.add(
    after(lookAtServersAfterMs, () => {
      own.lookAtAll();
    }),
  );
  store.add(
    after(removeUnusedAfterMs, () => {
      void removeUnused(paths, version, log);
      void removeUnfinishedFiles(paths, clock(), log);
    }),
  );
  log.info('the gateway listens', { port, version, epoch: epoch.id, lastExit: process.env['BOWLINE_LAST_EXIT'] });
}

/**
 * A successor is started beside the gateway that still runs: its modules are loaded, and it reads and accepts nothing
 * until the holder tells it that the other one is done.
 */
async function standBy(): Promise<void> {
  if (process.env['BOWLINE_SUCCESSOR'] === undefined) return;
  const go = once(process, 'message');
  const leave = (): never => process.exit(3);
  process.once('disconnect', leave);
  process.send?.({ kind: 'ready' });
  await go;
  process.removeListener('disconnect', leave);
}

/** The run before may have had a clock that was ahead: what is told now must not count as older than all it saw. */
function noteClockSetBack(fleet: FleetService, now: number, log: JsonlLog): void {
  if (withoutFuture(fleet.state, now) === fleet.state) return;
  log.warn('the clock was set back since the run before');
  fleet.report({ at: now, kind: 'host resumed' });
}

/** Hands over pipes: node-pty is native, and this program is run from where no package is. */
function handsOf(fleet: FleetService, paths: StatePaths, log: JsonlLog): CreateHands {
  return (report) => {
    const { tmuxPath } = fleet.state.settings;
    return new Hands({
      stateDirectory: paths.directory,
      ...(tmuxPath !== undefined && { tmuxPath }),
      environment: process.env,
      fleet: () => fleet.state,
      report,
      log,
    });
  };
}

async function listen(server: Server): Promise<number> {
  const listening = once(server, 'listening');
  server.listen({ fd: listeningDescriptor });
  await listening;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('descriptor 3 is not a TCP socket');
  return address.port;
}

function portNotices(taken: string | undefined, port: number): readonly Omit<Notice, 'at'>[] {
  if (taken === undefined) return [];
  return [
    {
      code: 'port-taken',
      sentence: `Port ${taken} is held by another program; the gateway took ${port}. Agents that still ask at the old port are restarted with resume.`,
      severity: 'warning',
    },
  ];
}

/** The holder tells which version could not take over, and why. */
function takeoverNotices(running: string): readonly Omit<Notice, 'at'>[] {
  const { BOWLINE_TAKEOVER_FAILED: failed } = process.env;
  if (failed === undefined) return [];
  const [version = '', ...reason] = failed.split(': ');
  return [takeoverFailedNotice(version, running, reason.join(': '))];
}

async function removeUnused(paths: StatePaths, running: string, log: JsonlLog): Promise<void> {
  // A gateway that runs from elsewhere is one under development.
  if (!(await isInstalled(paths, running))) return;
  const { BOWLINE_HOLDER_VERSION: holder } = process.env;
  await removeUnusedVersions({ paths, running, inUse: holder === undefined ? [] : [holder], now: Date.now(), log });
}

function beat(): void {
  if (process.connected) process.send?.({ kind: 'heartbeat' });
}

/** What is ended when this process ends. */
interface Running {
  readonly fleet: FleetService;
  readonly store: DisposableStore;
  readonly sessions: SessionStore;
  readonly log: JsonlLog;
  readonly journal: StateJournal;
  readonly processes: StdioProcesses;
}

/** Ends what acts and brings its last change to disk. If that fails this process goes before another one writes. */
async function settle({ fleet, store, sessions, log, journal }: Running): Promise<void> {
  const write = async (): Promise<void> => {
    await fleet.flush();
    store.dispose();
    await Promise.all([fleet.flush(), sessions.settled()]);
    await journal.seal();
  };
  try {
    await withTimeout(write(), settleLimitMs, () => new Error('the disk is too slow'));
  } catch (error) {
    log.error('the last changes are not on disk', { reason: messageOf(error) });
    process.exit(1);
  }
}

/** Ends this process on each of its occasions, with the state on disk. */
function endWith({ fleet, store, sessions, log, journal, processes }: Running, handOver: HandOver): void {
  let ending = false;
  const end = (reason: string, code: number): void => {
    if (ending) return;
    ending = true;
    if (handOver.isOver) process.exit(code);
    log.info('the gateway ends', { reason, code });
    const written = Promise.all([fleet.flush(), sessions.settled()]).then(() => journal.seal());
    withTimeout(written, flushLimitMs, () => new Error('the disk is too slow'))
      .catch((error: unknown) => {
        log.error('the last changes are not on disk', { reason: messageOf(error) });
      })
      .finally(() => {
        store.dispose();
        const settled = withTimeout(processes.settled(), endLimitMs, () => new Error('a server does not end'));
        void settled.catch(() => undefined).then(() => setImmediate(() => process.exit(code)));
      });
  };
  process.on('SIGTERM', () => {
    end('asked to', 0);
  });
  process.on('disconnect', () => {
    end('the holder is gone', 3);
  });
  if (!process.connected) end('the holder is gone', 3);
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(kind, (error: unknown) => {
      log.error('the gateway failed', { kind, reason: error instanceof Error ? (error.stack ?? '') : String(error) });
      end('it failed', 1);
    });
  }
}

/** Name of the directory below `versions` that the program runs from: the extension's version and a digest. */
function programVersion(): string {
  return basename(dirname(process.argv[1] ?? '')) || 'unknown';
}

function every(milliseconds: number, run: () => void): ReturnType<typeof toDisposable> {
  const timer = setInterval(run, milliseconds);
  return toDisposable(() => {
    clearInterval(timer);
  });
}

main().catch((error: unknown) => {
  console.error(`Bowline gateway: ${messageOf(error)}`);
  process.exit(1);
});
