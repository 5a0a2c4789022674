/**
 * The gateway: the fleet's one brain and writer, behind the socket that the holder owns. Its only composition root.
 * It ends with 0 when it is asked to (SIGTERM), which ends the holder, too; with 3 when its holder is gone, because the
 * next holder needs the port and the state; with 1 when it cannot go on.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { utimes } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { basename, dirname } from 'node:path';
import { withTimeout } from '../base/async.ts';
import { BowlineError, messageOf } from '../base/errors.ts';
import { DisposableStore, toDisposable } from '../base/lifecycle.ts';
import type { Notice } from '../core/fleet/state.ts';
import { readEndpointFile, writeEndpointFile } from '../node/endpointFile.ts';
import { Hands } from '../node/hands/hands.ts';
import { JsonlLog } from '../node/jsonlLog.ts';
import { processIdentity } from '../node/processIdentity.ts';
import { ensureStateDirectories, type StatePaths, statePaths } from '../node/statePaths.ts';
import { type Endpoint, endpointProtocol } from '../protocol/endpointFile.ts';
import { AdminApi } from './adminApi.ts';
import { followAgents } from './agentFiles.ts';
import { Commands } from './commands.ts';
import { ContextStore } from './contexts.ts';
import { newEpoch, readFormerRun } from './epoch.ts';
import { EventStreams } from './eventStreams.ts';
import { FleetService } from './fleetService.ts';
import { HandsTasks } from './handsTasks.ts';
import { HookIntake } from './hookIntake.ts';
import { watchHostSleep } from './hostClock.ts';
import { AgentKeyFiles } from './keys.ts';
import { LaunchFiles } from './launchFiles.ts';
import { McpEndpoint } from './mcp/endpoint.ts';
import { Prober } from './mcp/prober.ts';
import { selfServer } from './mcp/selfServer.ts';
import { SessionStore } from './mcp/sessionStore.ts';
import { StandingStreams } from './mcp/standingStreams.ts';
import { type CreateHands, OwnHands } from './ownHands.ts';
import { Router } from './router.ts';
import { SpoolDrain } from './spoolDrain.ts';
import { loadState, saveState } from './stateStore.ts';
import { Windows } from './windows.ts';

/** The holder passes the listening socket here. */
const listeningDescriptor = 3;
const heartbeatEveryMs = 2_000;
/** How exactly the next run knows when this one ended. */
const touchEveryMs = 5_000;
/** The holder waits a second for a gateway that outlives its own holder. */
const flushLimitMs = 800;

async function main(): Promise<void> {
  const { BOWLINE_HOME: home, BOWLINE_HOLDER: holder, BOWLINE_PORT_TAKEN: portTaken } = process.env;
  if (home === undefined || holder === undefined || process.send === undefined) {
    throw new BowlineError('gateway-cannot-start', 'The gateway is started by its holder: run `launcher holder`.');
  }
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
  const fleet = store.add(
    new FleetService({ state: loaded.state, clock, log, save: (state) => saveState(paths, state) }),
  );
  const epoch = newEpoch(former, holder, clock());
  fleet.report({ at: epoch.startedAt, kind: 'epoch started', epoch });
  fleet.report({ at: epoch.startedAt, kind: 'hands changed' });

  const server = createServer();
  server.keepAliveTimeout = 600_000; // a client that reuses a connection in the moment of its end loses a call
  const port = await listen(server);
  for (const notice of [...loaded.notices, ...portNotices(portTaken, port)]) {
    fleet.report({ at: clock(), kind: 'noticed', notice: { at: clock(), ...notice } });
  }

  // No await from here to the handlers: connections wait, and the first one finds everything in place.
  const version = programVersion();
  const streams = store.add(new StandingStreams({ fleet, clock }));
  const prober = store.add(new Prober({ fleet, streams, clock }));
  const contexts = new ContextStore(paths, fleet);
  const servers = [selfServer({ fleet, contexts, clock, log, version })];
  const mcp = store.add(new McpEndpoint({ fleet, keys, sessions, streams, prober, servers, clock, log }));
  const launchFiles = new LaunchFiles({ fleet, paths, keys, port });
  const tasks = store.add(
    new HandsTasks({ fleet, clock, log, prepare: (agent, launch) => launchFiles.prepare(agent, launch) }),
  );
  const commands = new Commands({ fleet, clock, servers: servers.map(({ name }) => name), newId: randomUUID });
  const ownHands = store.add(new OwnHands({ fleet, tasks, create: handsOf(fleet, paths, log), clock, log }));
  const windows = store.add(new Windows({ fleet, tasks, commands, ownHands, clock, log, version }));
  const events = store.add(new EventStreams(fleet));
  const token = former.endpoint?.token ?? randomBytes(32).toString('base64url');
  const admin = new AdminApi({ fleet, commands, events, clock, log, token });
  const hooks = new HookIntake({ fleet, keys, log });
  const router = new Router({ port, mcp, hooks, admin, windows, log });
  server.on('request', (request, response) => void router.handle(request, response));
  server.on('upgrade', (request, socket, head) => {
    router.upgrade(request, socket, head);
  });
  store.add(
    fleet.onEffects((effects) => {
      for (const effect of effects) if (effect.kind === 'probe') prober.run(effect);
    }),
  );
  store.add(followAgents({ fleet, keys, paths, mcp, log }));
  store.add(
    watchHostSleep(() => {
      log.info('the host slept, or its clock was set');
      fleet.report({ at: clock(), kind: 'host resumed' });
    }),
  );
  fleet.start();
  store.add(new SpoolDrain({ fleet, paths, log }));

  beat();
  store.add(every(heartbeatEveryMs, beat));
  endWith(fleet, store, sessions, log);
  const endpoint: Endpoint = {
    protocol: endpointProtocol,
    port,
    token,
    gateway: { ...identity, instance: epoch.id },
    holder: { instance: holder },
    startedAt: epoch.startedAt,
    version,
  };
  await writeEndpointFile(paths, endpoint);
  store.add(every(touchEveryMs, () => void touch(paths, endpoint, log)));
  log.info('the gateway listens', { port, version, epoch: epoch.id, lastExit: process.env['BOWLINE_LAST_EXIT'] });
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

function beat(): void {
  if (process.connected) process.send?.({ kind: 'heartbeat' });
}

/** Tells the next run that this one still lived; brings the file back if somebody removed or damaged it. */
async function touch(paths: StatePaths, endpoint: Endpoint, log: JsonlLog): Promise<void> {
  try {
    const reading = await readEndpointFile(paths);
    if (reading.kind !== 'ok') throw new Error(reading.kind === 'missing' ? 'it is missing' : reading.reason);
    const now = new Date();
    await utimes(paths.endpoint, now, now);
  } catch (error) {
    log.warn('the endpoint file is not as it was; writing it again', { reason: messageOf(error) });
    await writeEndpointFile(paths, endpoint).catch((failure: unknown) => {
      log.error('the endpoint file cannot be written', { reason: messageOf(failure) });
    });
  }
}

/** Ends this process on each of its occasions, with the state on disk. */
function endWith(fleet: FleetService, store: DisposableStore, sessions: SessionStore, log: JsonlLog): void {
  let ending = false;
  const end = (reason: string, code: number): void => {
    if (ending) return;
    ending = true;
    log.info('the gateway ends', { reason, code });
    const written = Promise.all([fleet.flush(), sessions.settled()]);
    withTimeout(written, flushLimitMs, () => new Error('the disk is too slow'))
      .catch((error: unknown) => {
        log.error('the last changes are not on disk', { reason: messageOf(error) });
      })
      .finally(() => {
        setImmediate(() => process.exit(code)); // after the closing words of dispose
        store.dispose();
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
